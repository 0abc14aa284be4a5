// Fetches pages from a server and adds them up to a checksum.
#include "fetch_all.h"
#include "http_server.h"
#include <stdio.h>

int main(void)
{
	struct pages pages = { 0 };
	curl_global_init(CURL_GLOBAL_DEFAULT);
	fetch_all(start_server(0), &pages);
	stop_server();
	curl_global_cleanup();
	printf("%d pages, %ld bytes, checksum %x%x\n", PAGES, pages.bytes, pages.b, pages.a);
	return 0;
}
