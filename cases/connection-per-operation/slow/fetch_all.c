// A new handle for each page, and so a new connection.
#include "fetch_all.h"

void fetch_all(int port, struct pages *pages)
{
	for (int i = 0; i < PAGES; i++) {
		CURL *handle = curl_easy_init();
		prepare(handle, port, PATH, pages);
		must(curl_easy_perform(handle));
		curl_easy_cleanup(handle);
	}
}
