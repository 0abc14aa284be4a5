// Sorts names without regard to case. `slow` makes a lower-case copy of both names in each comparison, `fixed` of each name once.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEOPLE = 1200000 };

struct person {
	char name[40];
	char *key;
};

static struct person people[PEOPLE];

static char *folded(const char *name)
{
	size_t length = strlen(name);
	char *copy = malloc(length + 1);
	if (!copy)
		exit(1);
	for (size_t i = 0; i <= length; i++)
		copy[i] = (char)tolower((unsigned char)name[i]);
	return copy;
}

static int by_folded_name(const void *a, const void *b)
{
	char *one = folded(((const struct person *)a)->name), *two = folded(((const struct person *)b)->name);
	int order = strcmp(one, two);
	free(one);
	free(two);
	return order;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct person *)a)->key, ((const struct person *)b)->key);
}

int main(int argc, char **argv)
{
	int fixed = argc > 1 && !strcmp(argv[1], "fixed");
	unsigned seed = 1;
	for (int i = 0; i < PEOPLE; i++) {
		seed = seed * 1103515245 + 12345;
		snprintf(people[i].name, sizeof(people[i].name), "%c%x Mc%c%x", 'A' + (int)(seed >> 8) % 26, seed >> 4, 'a' + i % 26, i);
	}
	for (int i = 0; fixed && i < PEOPLE; i++)
		people[i].key = folded(people[i].name);
	qsort(people, PEOPLE, sizeof(*people), fixed ? by_key : by_folded_name);
	unsigned long sum = 0;
	for (int i = 0; i < PEOPLE; i++)
		sum = sum * 31 + (unsigned char)people[i].name[1];
	printf("%s %s %lu\n", people[0].name, people[PEOPLE - 1].name, sum);
	return 0;
}
