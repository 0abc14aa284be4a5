// Takes a copy of each attribute.
#include "count.h"

int count_orders(xmlNode *orders, const struct question *question)
{
	int count = 0;
	for (xmlNode *order = orders->children; order; order = order->next) {
		xmlChar *state = xmlGetProp(order, BAD_CAST "state");
		xmlChar *country = xmlGetProp(order, BAD_CAST "country");
		count += xmlStrEqual(state, BAD_CAST question->state) && xmlStrEqual(country, BAD_CAST question->country);
		xmlFree(state);
		xmlFree(country);
	}
	return count;
}
