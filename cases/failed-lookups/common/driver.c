// Starts the tool once for each of many files, with or without a long LD_LIBRARY_PATH. The two programs are this one, with
// TOOL and DIRECTORIES set when they are built.

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 150, FILE_BYTES = 700000 };

static char folder[256];

// Where this program is.
static void find_folder(void)
{
	ssize_t size = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	if (size < 0) {
		perror("/proc/self/exe");
		exit(1);
	}
	folder[size] = 0;
	*strrchr(folder, '/') = 0;
}

// Directories of former versions first, the right one last, as such lists grow.
static void set_library_path(int directories)
{
	char path[32768];
	size_t size = 0;
	for (int i = 0; i < directories; i++)
		size += snprintf(path + size, sizeof(path) - size, "%s/old/%d:", folder, i);
	snprintf(path + size, sizeof(path) - size, "%s/lib", folder);
	setenv("LD_LIBRARY_PATH", path, 1);
}

static void make_file(const char *path, int number)
{
	static unsigned char bytes[FILE_BYTES];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (i * 31 + number * 7) >> 3;
	FILE *file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, sizeof(bytes), file) != sizeof(bytes) || fclose(file)) {
		perror(path);
		exit(1);
	}
}

static void run_tool(const char *path)
{
	extern char **environ;
	char tool[512], *arguments[] = { tool, (char *)path, NULL };
	snprintf(tool, sizeof(tool), "%s/" TOOL, folder);
	pid_t pid;
	int status = 1;
	if (posix_spawn(&pid, tool, NULL, NULL, arguments, environ) || waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "%s failed on %s\n", tool, path);
		exit(1);
	}
}

int main(void)
{
	char data[] = "/tmp/slowpath-files-XXXXXX", path[512];
	find_folder();
	if (!mkdtemp(data)) {
		perror(data);
		return 1;
	}
	if (DIRECTORIES)
		set_library_path(DIRECTORIES);
	for (int number = 0; number < FILES; number++) {
		snprintf(path, sizeof(path), "%s/%d", data, number);
		make_file(path, number);
		run_tool(path);
		unlink(path);
	}
	rmdir(data);
	return 0;
}
