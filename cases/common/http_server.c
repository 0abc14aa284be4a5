// See http_server.h. A thread for each connection, which stays open until the client closes it.
#include "http_server.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t server;
static int delay;
static char block[16384];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

// Answers the requests of one connection in their order.
static void *serve(void *argument)
{
	int connection = (int)(long)argument, no_delay = 1;
	setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof(no_delay));
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
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listening < 0 || bind(listening, (struct sockaddr *)&address, size) || listen(listening, 128) ||
	    getsockname(listening, (struct sockaddr *)&address, &size))
		fail("listen on a port of the loopback");
	delay = delay_us;
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] = (char)(i % 251);
	server = fork();
	if (server < 0)
		fail("fork");
	if (server == 0) {
		for (;;) {
			int connection = accept(listening, NULL, NULL);
			pthread_t thread;
			if (connection < 0 || pthread_create(&thread, NULL, serve, (void *)(long)connection))
				fail("serve a connection");
			pthread_detach(thread);
		}
	}
	close(listening);
	return ntohs(address.sin_port);
}

void stop_server(void)
{
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
}
