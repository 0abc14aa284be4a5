// Makes a configuration, handles requests for its hosts, and prints how many went to which upstream.
#include "routes.h"
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUTES = 200, UPSTREAMS = 8, REQUESTS = 10000 };

static xmlDoc *configuration(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		abort();
	fprintf(out, "<routes>");
	for (int i = 0; i < ROUTES; i++)
		fprintf(out, "<route xml:id='host%d.example'><upstream>up%d</upstream><timeout>30</timeout></route>", i,
			i % UPSTREAMS);
	fprintf(out, "</routes>");
	fclose(out);
	xmlDoc *document = xmlReadMemory(text, (int)size, "routes.xml", NULL, XML_PARSE_NONET);
	free(text);
	if (!document) {
		fprintf(stderr, "the configuration cannot be parsed\n");
		exit(1);
	}
	return document;
}

int main(void)
{
	struct routes routes = { PTHREAD_MUTEX_INITIALIZER, configuration() };
	int handled[UPSTREAMS] = { 0 };
	for (int i = 0; i < REQUESTS; i++) {
		char host[32], upstream[32] = "";
		snprintf(host, sizeof(host), "host%d.example", i * 7919 % ROUTES);
		upstream_of(&routes, host, upstream, sizeof(upstream));
		int number = -1;
		if (sscanf(upstream, "up%d", &number) == 1 && number >= 0 && number < UPSTREAMS)
			handled[number]++;
	}
	for (int i = 0; i < UPSTREAMS; i++)
		printf("up%d: %d\n", i, handled[i]);
	xmlFreeDoc(routes.document);
	return 0;
}
