// Makes orders, and prints how many there are of each state in each country.
#include "count.h"
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>

enum { ORDERS = 1000, STATES = 5, COUNTRIES = 12, DAYS = 400 };

static const char *const states[STATES] = { "new", "paid", "packed", "shipped", "returned" };
static const char *const countries[COUNTRIES] = { "AT", "BE", "CH", "DE", "DK", "ES", "FR", "IT", "NL", "NO", "PL", "SE" };

static xmlDoc *orders(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		abort();
	fprintf(out, "<orders>");
	for (int i = 0; i < ORDERS; i++)
		fprintf(out, "<order state='%s' country='%s' number='%d'/>", states[i * 7 % STATES],
			countries[i / 3 % COUNTRIES], i);
	fprintf(out, "</orders>");
	fclose(out);
	xmlDoc *document = xmlReadMemory(text, (int)size, "orders.xml", NULL, XML_PARSE_NONET);
	free(text);
	if (!document) {
		fprintf(stderr, "the orders cannot be parsed\n");
		exit(1);
	}
	return document;
}

int main(void)
{
	xmlDoc *document = orders();
	int counts[COUNTRIES][STATES] = { { 0 } };
	for (int day = 0; day < DAYS; day++)
		for (int country = 0; country < COUNTRIES; country++)
			for (int state = 0; state < STATES; state++) {
				struct question question = { states[state], countries[country] };
				counts[country][state] += count_orders(xmlDocGetRootElement(document), &question);
			}
	for (int country = 0; country < COUNTRIES; country++) {
		printf("%s", countries[country]);
		for (int state = 0; state < STATES; state++)
			printf(" %s %d", states[state], counts[country][state] / DAYS);
		printf("\n");
	}
	xmlFreeDoc(document);
	return 0;
}
