// Looks at the attributes where they are.
#include "count.h"

static int is(xmlNode *order, const char *name, const char *value)
{
	xmlAttr *attribute = xmlHasProp(order, BAD_CAST name);
	return attribute && attribute->children && xmlStrEqual(attribute->children->content, BAD_CAST value);
}

int count_orders(xmlNode *orders, const struct question *question)
{
	int count = 0;
	for (xmlNode *order = orders->children; order; order = order->next)
		count += is(order, "state", question->state) && is(order, "country", question->country);
	return count;
}
