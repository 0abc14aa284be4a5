// Orders in a document.
#pragma once
#include <libxml/tree.h>

// What the orders that are asked for have in their attributes `state` and `country`.
struct question {
	const char *state;
	const char *country;
};

// How many elements right under `orders` answer the question.
int count_orders(xmlNode *orders, const struct question *question);
