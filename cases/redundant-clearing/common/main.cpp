// Counts the different words of messages. The first one is a dictionary.
#include "forget.h"
#include <cstdio>

enum { MESSAGES = 30000, WORDS = 40, DICTIONARY = 400000 };

int main()
{
	Counts counts;
	long different = 0;
	unsigned state = 1;
	for (int message = 0; message < MESSAGES; message++) {
		forget(counts);
		int words = message ? WORDS : DICTIONARY;
		for (int i = 0; i < words; i++) {
			state = state * 1664525u + 1013904223u;
			char word[32];
			std::snprintf(word, sizeof(word), "word%u", state >> 12);
			counts[word]++;
		}
		different += (long)counts.size();
	}
	std::printf("%d messages, %ld different words\n", MESSAGES, different);
	return 0;
}
