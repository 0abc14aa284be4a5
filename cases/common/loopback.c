// See loopback.h.
#include "loopback.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t server;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

int start_on_loopback(void *(*serve)(void *connection))
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listening < 0 || bind(listening, (struct sockaddr *)&address, size) || listen(listening, 128) ||
	    getsockname(listening, (struct sockaddr *)&address, &size))
		fail("listen on a port of the loopback");
	server = fork();
	if (server < 0)
		fail("fork");
	if (server == 0) {
		signal(SIGPIPE, SIG_IGN); // a client that is gone is no reason to end
		for (;;) {
			int connection = accept(listening, NULL, NULL), no_delay = 1;
			pthread_t thread;
			if (connection < 0)
				fail("accept a connection");
			setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof(no_delay));
			if (pthread_create(&thread, NULL, serve, (void *)(long)connection))
				fail("serve a connection");
			pthread_detach(thread);
		}
	}
	close(listening);
	return ntohs(address.sin_port);
}

void stop_on_loopback(void)
{
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
}
