// Fetches pages from a server and adds them up to a checksum.
#include "fetch_all.h"
#include "tls_server.h"
#include <stdio.h>

int main(void)
{
	struct pages pages = { 0 };
	struct server server;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	server.port = start_tls_server(server.certificate, sizeof(server.certificate));
	fetch_all(&server, &pages);
	stop_tls_server();
	curl_global_cleanup();
	printf("%d pages, %ld bytes, checksum %x%x\n", PAGES, pages.bytes, pages.b, pages.a);
	return 0;
}
