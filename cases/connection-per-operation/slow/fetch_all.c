// A new handle for each page, and so a new connection.
#include "fetch_all.h"

void fetch_all(const struct server *server, struct pages *pages)
{
	for (int i = 0; i < PAGES; i++) {
		CURL *handle = curl_easy_init();
		prepare_tls(handle, server->port, PATH, server->certificate, pages);
		must(curl_easy_perform(handle));
		curl_easy_cleanup(handle);
	}
}
