// Asks again until something has come.
#include "receive.h"

size_t receive(CURL *connection, char *into, size_t size)
{
	size_t received = 0;
	while (curl_easy_recv(connection, into, size, &received) == CURLE_AGAIN)
		;
	return received;
}
