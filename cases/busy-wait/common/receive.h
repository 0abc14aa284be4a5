// Waits for bytes from a server. The two versions of the case differ in this only.
#pragma once
#include <curl/curl.h>

// Receives the next bytes on a connection that libcurl opened; returns how many, 0 at its end.
size_t receive(CURL *connection, char *into, size_t size);
