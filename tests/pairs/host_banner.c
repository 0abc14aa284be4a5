// A report generator that asks for the machine's name at each line, and computes a checksum of each.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char kept[256];

static const char *host(int fixed)
{
	if (fixed && kept[0])
		return kept;
	int fd = open("/etc/hostname", O_RDONLY);
	ssize_t size = read(fd, kept, sizeof kept - 1);
	close(fd);
	kept[size > 0 ? size : 0] = 0;
	return kept;
}

static unsigned long checksum(const char *text, unsigned long seed)
{
	for (int round = 0; round < 600; round++)
		for (const char *at = text; *at; at++)
			seed = (seed ^ (unsigned char) *at) * 1099511628211ul;
	return seed;
}

int main(int argc, char **argv)
{
	int fixed = argc > 1 && !strcmp(argv[1], "fixed");
	unsigned long sum = 14695981039346656037ul;
	char line[512];
	for (int number = 0; number < 8000; number++) {
		snprintf(line, sizeof line, "%s: record %d of the report", host(fixed), number);
		sum = checksum(line, sum);
	}
	printf("%lx\n", sum);
	return 0;
}
