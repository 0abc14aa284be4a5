// Follows events that a server sends, over a connection of libcurl.
#include "http_server.h"
#include "receive.h"
#include <stdio.h>
#include <stdlib.h>

enum { EVENTS = 200 };

static void check(CURLcode status)
{
	if (status != CURLE_OK) {
		fprintf(stderr, "libcurl: %s\n", curl_easy_strerror(status));
		exit(1);
	}
}

int main(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
	char address[64], request[128], events[512];
	snprintf(address, sizeof(address), "http://127.0.0.1:%d", start_server(5000));
	CURL *connection = curl_easy_init();
	curl_easy_setopt(connection, CURLOPT_URL, address);
	curl_easy_setopt(connection, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(connection, CURLOPT_CONNECT_ONLY, 1L);
	check(curl_easy_perform(connection));
	size_t size = (size_t)snprintf(request, sizeof(request), "GET /events/%d HTTP/1.1\r\n\r\n", EVENTS), sent, length;
	check(curl_easy_send(connection, request, size, &sent));
	long lines = 0;
	while ((length = receive(connection, events, sizeof(events))) > 0)
		for (size_t i = 0; i < length; i++)
			lines += events[i] == '\n';
	curl_easy_cleanup(connection);
	stop_server();
	printf("%ld events\n", lines);
	return 0;
}
