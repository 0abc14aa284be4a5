// The routes of a proxy, in a document.
#pragma once
#include <libxml/tree.h>
#include <pthread.h>
#include <stddef.h>

struct routes {
	pthread_mutex_t lock;
	xmlDoc *document;
};

// Writes the upstream of a host to `upstream`, cut to `size` bytes; nothing if there is no route.
void upstream_of(struct routes *routes, const char *host, char *upstream, size_t size);
