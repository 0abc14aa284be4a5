// How a thread fetches a page. The two versions of the case differ in this only.
#pragma once
#include "pages.h"

// Fetches a path of the server at a port of the loopback. Called by several threads at once, each with pages of its own.
void fetch(int port, const char *path, struct pages *pages);
