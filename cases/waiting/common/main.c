// A client and its server over a TCP socket on the loopback: the server, a process of its own, squares what it is asked.

#include "client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { QUESTIONS = 120, WORK = 400000 };

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

// Some honest work for each answer.
static uint64_t square(uint64_t number)
{
	uint64_t state = number;
	for (int i = 0; i < WORK; i++)
		state = state * 6364136223846793005u + 1442695040888963407u;
	return number * number + (state == 42);
}

static void serve(int listener)
{
	int client = accept(listener, NULL, NULL);
	uint64_t question;
	while (client >= 0 && recv(client, &question, sizeof(question), MSG_WAITALL) == sizeof(question)) {
		uint64_t answer = square(question);
		if (send(client, &answer, sizeof(answer), 0) != sizeof(answer))
			break;
	}
	exit(0);
}

static int connect_to(const struct sockaddr_in *address)
{
	int client = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	if (client < 0 || connect(client, (const struct sockaddr *)address, sizeof(*address)))
		fail("connect");
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return client;
}

int main(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &size))
		fail("listen");
	pid_t server = fork();
	if (server < 0)
		fail("fork");
	if (!server)
		serve(listener);
	int client = connect_to(&address);
	uint64_t sum = 0;
	for (uint64_t question = 0; question < QUESTIONS; question++) {
		uint64_t answer;
		if (send(client, &question, sizeof(question), 0) != sizeof(question) ||
		    receive_answer(client, &answer, sizeof(answer)))
			fail("the connection");
		sum += answer;
	}
	close(client);
	waitpid(server, NULL, 0);
	printf("%d answers, sum %llu\n", QUESTIONS, (unsigned long long)sum);
	return 0;
}
