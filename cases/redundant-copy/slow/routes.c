// Each request has a configuration of its own.
#include "routes.h"
#include <libxml/valid.h>
#include <stdio.h>

void upstream_of(struct routes *routes, const char *host, char *upstream, size_t size)
{
	pthread_mutex_lock(&routes->lock);
	xmlDoc *document = xmlCopyDoc(routes->document, 1);
	pthread_mutex_unlock(&routes->lock);
	xmlAttr *id = xmlGetID(document, BAD_CAST host);
	if (id) {
		xmlChar *text = xmlNodeGetContent(id->parent->children);
		snprintf(upstream, size, "%s", (char *)text);
		xmlFree(text);
	}
	xmlFreeDoc(document);
}
