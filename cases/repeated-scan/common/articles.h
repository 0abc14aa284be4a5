// The articles of a price list, found by their numbers.
#pragma once

#include <stddef.h>

struct article {
	char number[24];
	long cents;
};

// Takes over the list, which stays as it is from then on. Ends the program if there is no memory.
void keep_articles(struct article *articles, size_t count);

// The price of the article of this number, in cents; -1 if there is none.
long find_price(const char *number);
