// Trims the lines of posts, as a question and answer site shows them. Some lines have thousands of spaces in their middle.
#include "trim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 30000, USUAL = 120, SPACES = 4500, SELDOM = 1500 };

int main(void)
{
	static char line[USUAL + SPACES + 2];
	unsigned long left = 0;
	for (int number = 0; number < LINES; number++) {
		size_t length = 20 + number % (USUAL - 20);
		for (size_t at = 0; at < length; at++)
			line[at] = at % 7 ? 'a' + (at + number) % 26 : ' ';
		if (number % SELDOM == SELDOM / 2) {
			memset(line + length, ' ', SPACES);
			length += SPACES;
			line[length++] = '-';
		}
		const char *begin;
		size_t rest = trim(line, length, &begin);
		left += rest + (rest ? (unsigned char)begin[0] : 0);
	}
	printf("%d lines, %lu\n", LINES, left);
	return 0;
}
