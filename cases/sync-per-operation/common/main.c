// Writes records to a log on a real disk: in a file beside the program, or in the folder named.

#include "log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 1500 };

static int open_beside_us(char *path, size_t size, const char *folder)
{
	ssize_t got = readlink("/proc/self/exe", path, size - 32);
	if (got < 0)
		return -1;
	path[got] = 0;
	*strrchr(path, '/') = 0;
	if (folder)
		snprintf(path, size - 32, "%s", folder);
	strcat(path, "/log-XXXXXX");
	return mkstemp(path);
}

int main(int count, char **arguments)
{
	char path[512];
	struct log log = { .fd = open_beside_us(path, sizeof(path), count > 1 ? arguments[1] : NULL) };
	if (log.fd < 0) {
		perror(path);
		return 1;
	}
	for (int number = 0; number < RECORDS; number++) {
		char record[128];
		int size = snprintf(record, sizeof(record), "record %d: account %d, amount %d\n", number, number * 37 % 1000,
				    number * 7919 % 100000);
		append_record(&log, record, size);
	}
	close_log(&log);
	off_t size = lseek(log.fd, 0, SEEK_END);
	close(log.fd);
	unlink(path);
	printf("%zu records confirmed, %lld bytes\n", log.confirmed, (long long)size);
	return 0;
}
