// Prints the sum of one file. It is started anew for each.

#include "digest.h"

#include <stdio.h>

int main(int count, char **arguments)
{
	unsigned char digest[DIGEST_BYTES];
	if (count != 2 || digest_file(arguments[1], digest)) {
		fprintf(stderr, "usage: %s FILE\n", arguments[0]);
		return 1;
	}
	for (int i = 0; i < DIGEST_BYTES; i++)
		printf("%02x", digest[i]);
	putchar('\n');
	return 0;
}
