// The distinct words of a stream, in the order of their first appearance: searched in a list, or in a hash table.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 65536
struct word {
	struct word *next, *chain;
	char text[16];
};
static struct word *first, *last, *table[BUCKETS];

static unsigned hash(const char *text)
{
	unsigned h = 5381;
	while (*text)
		h = h * 33 + (unsigned char) *text++;
	return h % BUCKETS;
}

__attribute__((noinline)) static int note(const char *text, int fixed)
{
	unsigned h = hash(text);
	struct word *word = fixed ? table[h] : first;
	for (; word; word = fixed ? word->chain : word->next)
		if (!strcmp(word->text, text))
			return 0;
	word = calloc(1, sizeof *word);
	strcpy(word->text, text);
	if (last)
		last->next = word;
	else
		first = word;
	last = word;
	word->chain = table[h];
	table[h] = word;
	return 1;
}

int main(int argc, char **argv)
{
	int fixed = argc > 1 && !strcmp(argv[1], "fixed"), found = 0;
	char text[16];
	unsigned long state = 42;
	for (int i = 0; i < 30000; i++) {
		state = state * 6364136223846793005ul + 1442695040888963407ul;
		snprintf(text, sizeof text, "w%lx", (state >> 33) % 15000);
		found += note(text, fixed);
	}
	printf("%d\n", found);
	return 0;
}
