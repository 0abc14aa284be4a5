// See http_server.h. A thread for each connection, which stays open until the client closes it.
#include "http_server.h"
#include "loopback.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int delay;
static char block[16384];

// Answers the requests of one connection in their order.
static void *serve(void *argument)
{
	int connection = (int)(long)argument;
	char request[4096];
	size_t length = 0;
	for (;;) {
		ssize_t got = recv(connection, request + length, sizeof(request) - 1 - length, 0);
		if (got <= 0)
			break;
		length += (size_t)got;
		request[length] = 0;
		char *end = strstr(request, "\r\n\r\n");
		if (!end)
			continue;
		char body[64], answer[256];
		size_t path = strcspn(request + 4, " ");
		int events = strncmp(request + 4, "/events/", 8) ? 0 : atoi(request + 12);
		for (int i = 1; i <= events; i++) {
			usleep((useconds_t)delay);
			int size = snprintf(body, sizeof(body), "event %d of %d\n", i, events);
			if (send(connection, body, (size_t)size, MSG_NOSIGNAL) < 0)
				break;
		}
		if (events)
			break;
		if (delay)
			usleep((useconds_t)delay);
		int blocks = strncmp(request + 4, "/blocks/", 8) ? 0 : atoi(request + 12);
		int size = snprintf(body, sizeof(body), "%zu bytes\n", path);
		int all = snprintf(answer, sizeof(answer), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
				   blocks ? blocks * sizeof(block) : (size_t)size, blocks ? "" : body);
		if (send(connection, answer, (size_t)all, MSG_NOSIGNAL) < 0)
			break;
		for (int i = 0; i < blocks; i++)
			if (send(connection, block, sizeof(block), MSG_NOSIGNAL) < 0)
				break;
		length = 0;
	}
	close(connection);
	return NULL;
}

int start_server(int delay_us)
{
	delay = delay_us;
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] = (char)(i % 251);
	return start_on_loopback(serve);
}

void stop_server(void)
{
	stop_on_loopback();
}
