// Counts the lines and words of a text that it reads byte by byte.
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned char buffer[65536];
static size_t at, end;

static int next(int fd, int fixed)
{
	if (at == end) {
		ssize_t got = read(fd, buffer, fixed ? sizeof buffer : 1);
		if (got <= 0)
			return -1;
		at = 0;
		end = (size_t) got;
	}
	return buffer[at++];
}

int main(int argc, char **argv)
{
	int fixed = argc > 1 && !strcmp(argv[1], "fixed"), within = 0, c;
	FILE *text = tmpfile();
	if (!text)
		return 1;
	int fd = fileno(text);
	for (int i = 0; i < 60000; i++)
		dprintf(fd, "line %d\n", i);
	lseek(fd, 0, SEEK_SET);
	long lines = 0, words = 0, letters = 0;
	while ((c = next(fd, fixed)) >= 0) {
		lines += c == '\n';
		words += !isspace(c) && !within;
		within = !isspace(c);
		for (int i = 0; i < 60; i++)
			letters += ((c * 31 + i) % 7) == 3;
	}
	printf("%ld %ld %ld\n", lines, words, letters);
	return 0;
}
