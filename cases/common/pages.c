// See pages.h.
#include "pages.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void prepare_for(CURL *handle, const char *scheme, int port, const char *path, struct pages *pages)
{
	char address[128];
	snprintf(address, sizeof(address), "%s://127.0.0.1:%d%s", scheme, port, path);
	curl_easy_setopt(handle, CURLOPT_URL, address);
	curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, add);
	curl_easy_setopt(handle, CURLOPT_WRITEDATA, pages);
	curl_easy_setopt(handle, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
}

void prepare(CURL *handle, int port, const char *path, struct pages *pages)
{
	prepare_for(handle, "http", port, path, pages);
}

void prepare_tls(CURL *handle, int port, const char *path, const char *certificate, struct pages *pages)
{
	prepare_for(handle, "https", port, path, pages);
	struct curl_blob trusted = { (char *)certificate, strlen(certificate), CURL_BLOB_COPY };
	curl_easy_setopt(handle, CURLOPT_CAINFO_BLOB, &trusted);
	curl_easy_setopt(handle, CURLOPT_CAPATH, NULL);
}

void must(CURLcode status)
{
	if (status != CURLE_OK) {
		fprintf(stderr, "fetch a page: %s\n", curl_easy_strerror(status));
		exit(1);
	}
}
