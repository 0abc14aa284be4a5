// Fetches pages from a server and counts their bytes.
#include "fetch_all.h"
#include "http_server.h"
#include <stdio.h>

int main(void)
{
	struct pages pages = { 0 };
	curl_global_init(CURL_GLOBAL_DEFAULT);
	fetch_all(start_server(3000), &pages);
	stop_server();
	curl_global_cleanup();
	printf("%d pages, %ld bytes\n", PAGES, pages.bytes);
	return 0;
}
