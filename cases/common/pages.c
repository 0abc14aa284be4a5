// See pages.h.
#include "pages.h"
#include <stdio.h>
#include <stdlib.h>

static size_t add(char *data, size_t size, size_t items, void *to)
{
	struct pages *pages = to;
	for (size_t i = 0; i < size * items; i++) {
		pages->a = (pages->a + (unsigned char)data[i]) % 65535;
		pages->b = (pages->b + pages->a) % 65535;
	}
	pages->bytes += (long)(size * items);
	return size * items;
}

void prepare(CURL *handle, int port, const char *path, struct pages *pages)
{
	char address[128];
	snprintf(address, sizeof(address), "http://127.0.0.1:%d%s", port, path);
	curl_easy_setopt(handle, CURLOPT_URL, address);
	curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, add);
	curl_easy_setopt(handle, CURLOPT_WRITEDATA, pages);
	curl_easy_setopt(handle, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
}

void must(CURLcode status)
{
	if (status != CURLE_OK) {
		fprintf(stderr, "fetch a page: %s\n", curl_easy_strerror(status));
		exit(1);
	}
}
