// How the pages are fetched. The two versions of the case differ in this only.
#pragma once
#include "pages.h"

// A server with TLS on the loopback: its port, and its certificate in PEM.
struct server {
	int port;
	char certificate[4096];
};

// Fetches PAGES pages of 16 KiB of a server.
enum { PAGES = 1000 };
#define PATH "/"
void fetch_all(const struct server *server, struct pages *pages);
