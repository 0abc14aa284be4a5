// Writes a compressed log, reads it line by line, and shows how much of it is done.
#include "progress.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINES = 3000000 };

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

// A stream of zlib on a file that stays open when the stream is closed.
static gzFile stream(FILE *file, const char *mode)
{
	int descriptor = dup(fileno(file));
	gzFile opened = descriptor < 0 ? NULL : gzdopen(descriptor, mode);
	if (!opened)
		fail("open the log");
	return opened;
}

static long write_log(FILE *file)
{
	gzFile log = stream(file, "wb1");
	for (int i = 0; i < LINES; i++)
		gzprintf(log, "%d user %d logged in\n", i, i % 977);
	struct stat state;
	if (gzclose(log) != Z_OK || fstat(fileno(file), &state) != 0 || lseek(fileno(file), 0, SEEK_SET) != 0)
		fail("write the log");
	return state.st_size;
}

int main(void)
{
	FILE *file = tmpfile();
	if (!file)
		fail("make a temporary file");
	long size = write_log(file);
	gzFile log = stream(file, "rb");
	char line[128];
	long lines = 0, bytes = 0;
	int shown = -1;
	while (gzgets(log, line, sizeof(line))) {
		long length = (long)strlen(line);
		lines++;
		bytes += length;
		int percent = show_progress(log, size, length);
		if (percent > shown) {
			shown = percent;
			if (isatty(STDERR_FILENO))
				fprintf(stderr, "\r%d %%", percent);
		}
	}
	gzclose(log);
	fclose(file);
	printf("%ld lines, %ld bytes\n", lines, bytes);
	return 0;
}
