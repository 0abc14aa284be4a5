// One handle for all pages: it keeps its connection.
#include "fetch_all.h"

void fetch_all(const struct server *server, struct pages *pages)
{
	CURL *handle = curl_easy_init();
	prepare_tls(handle, server->port, PATH, server->certificate, pages);
	for (int i = 0; i < PAGES; i++)
		must(curl_easy_perform(handle));
	curl_easy_cleanup(handle);
}
