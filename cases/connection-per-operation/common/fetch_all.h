// How the pages are fetched. The two versions of the case differ in this only.
#pragma once
#include "pages.h"

// Fetches PAGES pages of 16 KiB of the server at a port of the loopback.
enum { PAGES = 3000 };
#define PATH "/blocks/1"
void fetch_all(int port, struct pages *pages);
