// Turns around the bits of a file. `slow` reads and writes each byte by fread and fwrite, `fixed` blocks.
#include <stdio.h>
#include <string.h>

static unsigned char flipped(unsigned char byte)
{
	unsigned char out = 0;
	for (int bit = 0; bit < 8; bit++)
		out |= (unsigned char) ((byte >> bit & 1) << (7 - bit));
	return out;
}

int main(int argc, char **argv)
{
	int fixed = argc > 1 && !strcmp(argv[1], "fixed");
	FILE *in = tmpfile(), *out = tmpfile();
	if (!in || !out)
		return 1;
	static unsigned char block[65536];
	for (int i = 0; i < 400; i++) {
		memset(block, i, sizeof block);
		fwrite(block, 1, sizeof block, in);
	}
	rewind(in);
	unsigned long sum = 0;
	size_t size = fixed ? sizeof block : 1, got;
	while ((got = fread(block, 1, size, in)) > 0) {
		for (size_t i = 0; i < got; i++)
			sum += block[i] = flipped(block[i]);
		fwrite(block, 1, got, out);
	}
	printf("%lu\n", sum);
	return 0;
}
