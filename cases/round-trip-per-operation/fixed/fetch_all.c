// Up to eight pages at a time.
#include "fetch_all.h"
#include <stdio.h>
#include <stdlib.h>

void fetch_all(int port, struct pages *pages)
{
	CURLM *all = curl_multi_init();
	curl_multi_setopt(all, CURLMOPT_MAX_TOTAL_CONNECTIONS, 8L);
	CURL *handles[PAGES];
	for (int i = 0; i < PAGES; i++) {
		char path[32];
		snprintf(path, sizeof(path), "/%d", i);
		handles[i] = curl_easy_init();
		prepare(handles[i], port, path, pages);
		curl_multi_add_handle(all, handles[i]);
	}
	int running = 1;
	while (running) {
		if (curl_multi_perform(all, &running) != CURLM_OK)
			exit(1);
		if (running && curl_multi_poll(all, NULL, 0, 1000, NULL) != CURLM_OK)
			exit(1);
	}
	for (int i = 0; i < PAGES; i++) {
		curl_multi_remove_handle(all, handles[i]);
		curl_easy_cleanup(handles[i]);
	}
	curl_multi_cleanup(all);
}
