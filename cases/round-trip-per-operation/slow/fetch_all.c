// One page after the other.
#include "fetch_all.h"
#include <stdio.h>

void fetch_all(int port, struct pages *pages)
{
	CURL *handle = curl_easy_init();
	for (int i = 0; i < PAGES; i++) {
		char path[32];
		snprintf(path, sizeof(path), "/%d", i);
		prepare(handle, port, path, pages);
		must(curl_easy_perform(handle));
	}
	curl_easy_cleanup(handle);
}
