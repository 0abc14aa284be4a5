// Applies signed updates to a database in memory: each is signed, verified, applied and read back.

#include "database.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 32 };

struct field {
	char name[32], value[64];
};

static struct field database[FIELDS];

static void apply(const char *name, const char *value)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (!database[i].name[0] || !strcmp(database[i].name, name)) {
			snprintf(database[i].name, sizeof(database[i].name), "%s", name);
			snprintf(database[i].value, sizeof(database[i].value), "%s", value);
			return;
		}
}

static const char *read_back(const char *name)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (!strcmp(database[i].name, name))
			return database[i].value;
	return "";
}

static void run_update(int number)
{
	char name[32], value[64];
	snprintf(name, sizeof(name), "field-%d", number * 7 % FIELDS);
	snprintf(value, sizeof(value), "value of update %d", number);
	struct update update;
	update.size = snprintf(update.text, sizeof(update.text), "caller: clerk-%d\naction: set\nfield: %s\nvalue: %s\n",
			       number % 5, name, value);
	struct signature signature;
	enum key key = number % KEYS;
	if (!sign_update(&update, key, &signature) || !verify_update(&update, key, &signature)) {
		fprintf(stderr, "update %d could not be signed and verified\n", number);
		exit(1);
	}
	apply(name, value);
	if (strcmp(read_back(name), value)) {
		fprintf(stderr, "update %d was not applied\n", number);
		exit(1);
	}
}

int main(void)
{
	open_keys();
	for (int number = 0; number < UPDATES; number++)
		run_update(number);
	close_keys();
	uint64_t sum = 0xcbf29ce484222325;
	for (const char *at = (const char *)database; at < (const char *)(database + FIELDS); at++)
		sum = (sum ^ (unsigned char)*at) * 0x100000001b3;
	printf("%d updates signed, verified and applied, database %016lx\n", UPDATES, (unsigned long)sum);
	return 0;
}
