// Bills orders: reads nothing, makes a price list and orders that are the same in every run, and prints the sum.
#include "articles.h"
#include <stdio.h>
#include <stdlib.h>

enum { ARTICLES = 4000, ORDERS = 60000 };

static unsigned next(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

int main(void)
{
	struct article *articles = calloc(ARTICLES, sizeof *articles);
	if (!articles) {
		fputs("no memory for the price list\n", stderr);
		return 1;
	}
	unsigned state = 1;
	for (int i = 0; i < ARTICLES; i++) {
		snprintf(articles[i].number, sizeof articles[i].number, "A-%05u-%d", next(&state) % 100000, i);
		articles[i].cents = next(&state) % 10000;
	}
	const struct article *list = articles;
	keep_articles(articles, ARTICLES);
	long cents = 0;
	int unknown = 0;
	for (int i = 0; i < ORDERS; i++) {
		const struct article *wanted = &list[next(&state) % ARTICLES];
		long price = find_price(i % 50 ? wanted->number : "withdrawn");
		if (price >= 0)
			cents += price;
		else
			unknown++;
	}
	printf("%d orders, %d unknown articles, %ld.%02ld\n", ORDERS, unknown, cents / 100, cents % 100);
	return 0;
}
