// Each signature by a gpg process of its own, and each verification likewise.

#include "database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const users[KEYS] = { "rsa@example.test", "ed25519@example.test" };
static char home[] = "/tmp/slowpath-gpg-XXXXXX";

// Runs a command of the shell; ends the program if it fails.
static void must(const char *command)
{
	if (system(command)) {
		fprintf(stderr, "failed: %s\n", command);
		exit(1);
	}
}

// A throw-away copy of the keys: gpg keeps its locks and its agent's socket beside them.
void open_keys(void)
{
	char command[512], folder[256];
	ssize_t size = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	if (size < 0 || !mkdtemp(home)) {
		perror("a folder for the keys");
		exit(1);
	}
	folder[size] = 0;
	*strrchr(folder, '/') = 0;
	snprintf(command, sizeof(command), "cp -r '%s/keys/.' %s", folder, home);
	must(command);
	setenv("GNUPGHOME", home, 1);
}

void close_keys(void)
{
	char command[512];
	snprintf(command, sizeof(command), "gpgconf --kill gpg-agent; rm -rf %s", home);
	must(command);
}

// What gpg reads comes through a file, what it writes through a pipe.
static bool write_file(const char *name, const void *bytes, size_t size, char *path, size_t path_size)
{
	snprintf(path, path_size, "%s/%s", home, name);
	FILE *file = fopen(path, "w");
	if (!file)
		return false;
	bool written = fwrite(bytes, 1, size, file) == size;
	return !fclose(file) && written;
}

bool sign_update(const struct update *update, enum key key, struct signature *signature)
{
	char path[64], command[512];
	if (!write_file("update", update->text, update->size, path, sizeof(path)))
		return false;
	snprintf(command, sizeof(command), "gpg --batch --quiet --local-user %s --output - --detach-sign %s", users[key], path);
	FILE *pipe = popen(command, "r");
	if (!pipe)
		return false;
	signature->size = fread(signature->bytes, 1, sizeof(signature->bytes), pipe);
	return !pclose(pipe) && signature->size > 0;
}

bool verify_update(const struct update *update, enum key key, const struct signature *signature)
{
	(void)update;
	(void)key;
	char path[64], command[512];
	if (!write_file("signature", signature->bytes, signature->size, path, sizeof(path)))
		return false;
	snprintf(command, sizeof(command), "gpg --batch --quiet --trust-model always --verify %s %s/update 2>/dev/null", path, home);
	FILE *pipe = popen(command, "r");
	return pipe && !pclose(pipe);
}
