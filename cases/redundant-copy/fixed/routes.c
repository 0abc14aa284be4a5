// All requests look at one configuration.
#include "routes.h"
#include <libxml/valid.h>
#include <stdio.h>

void upstream_of(struct routes *routes, const char *host, char *upstream, size_t size)
{
	pthread_mutex_lock(&routes->lock);
	xmlAttr *id = xmlGetID(routes->document, BAD_CAST host);
	if (id) {
		xmlChar *text = xmlNodeGetContent(id->parent->children);
		snprintf(upstream, size, "%s", (char *)text);
		xmlFree(text);
	}
	pthread_mutex_unlock(&routes->lock);
}
