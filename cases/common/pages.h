// Fetches pages of the server in http_server.h with libcurl, for cases that differ in how they do so.
#pragma once
#include <curl/curl.h>

// What came: its bytes, and Fletcher's checksum of them.
struct pages {
	long bytes;
	unsigned a, b;
};

// Has a handle fetch a path of the server at a port of the loopback; what comes is added to `pages`.
void prepare(CURL *handle, int port, const char *path, struct pages *pages);

// The same over TLS, from a server with such a certificate, in PEM.
void prepare_tls(CURL *handle, int port, const char *path, const char *certificate, struct pages *pages);

// Ends the program if a page could not be fetched.
void must(CURLcode status);
