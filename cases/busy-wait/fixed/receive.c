// Sleeps until something has come.
#include "receive.h"
#include <poll.h>

size_t receive(CURL *connection, char *into, size_t size)
{
	size_t received = 0;
	curl_socket_t socket;
	curl_easy_getinfo(connection, CURLINFO_ACTIVESOCKET, &socket);
	while (curl_easy_recv(connection, into, size, &received) == CURLE_AGAIN)
		poll(&(struct pollfd){ .fd = socket, .events = POLLIN }, 1, -1);
	return received;
}
