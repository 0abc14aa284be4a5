// Finds the longest run of equal bytes in a file, by asking stdio for each byte and whether the file is at its end, or in blocks.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 60000000, BLOCK = 65536 };

struct runs {
	int last;
	long now, longest;
	unsigned check;
};

static void next(struct runs *runs, int byte)
{
	runs->now = byte == runs->last ? runs->now + 1 : 1;
	runs->last = byte;
	if (runs->now > runs->longest)
		runs->longest = runs->now;
	runs->check = runs->check * 31 + (unsigned)byte;
}

__attribute__((noinline)) static void byte_by_byte(FILE *file, struct runs *runs)
{
	while (!feof(file)) {
		int byte = fgetc(file);
		if (byte != EOF)
			next(runs, byte);
	}
}

__attribute__((noinline)) static void in_blocks(FILE *file, struct runs *runs)
{
	static unsigned char block[BLOCK];
	for (size_t size; (size = fread(block, 1, BLOCK, file)) > 0;)
		for (size_t at = 0; at < size; at++)
			next(runs, block[at]);
}

int main(int argc, char **argv)
{
	FILE *file = tmpfile();
	unsigned char *data = malloc(SIZE);
	if (!file || !data)
		return 1;
	unsigned seed = 1;
	for (size_t at = 0; at < SIZE; at++)
		data[at] = (seed = seed * 1103515245 + 12345) >> 29;
	if (fwrite(data, 1, SIZE, file) != SIZE)
		return 1;
	rewind(file);
	struct runs runs = {-1, 0, 0, 0};
	if (argc > 1 && !strcmp(argv[1], "fixed"))
		in_blocks(file, &runs);
	else
		byte_by_byte(file, &runs);
	printf("%ld %u\n", runs.longest, runs.check);
}
