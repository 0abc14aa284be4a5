// Asks a server some distance away for names. `slow` waits for each answer, `fixed` has sixteen questions under way.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { USERS = 320, AHEAD = 16, DELAY_US = 2000 };

struct message {
	int user;
	long due; // microseconds
	char name[32];
};

static int ends[2];

static long now(void)
{
	struct timespec at;
	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec * 1000000 + at.tv_nsec / 1000;
}

// The way there and back takes DELAY_US, however many are under way.
static void serve(void)
{
	struct message message;
	while (recv(ends[1], &message, sizeof(message), MSG_WAITALL) == sizeof(message)) {
		long left = message.due - now();
		if (left > 0)
			usleep((useconds_t)left);
		snprintf(message.name, sizeof(message.name), "user number %d", message.user);
		send(ends[1], &message, sizeof(message), 0);
	}
}

static void ask(int user)
{
	struct message message = { .user = user, .due = now() + DELAY_US };
	if (send(ends[0], &message, sizeof(message), 0) < 0)
		exit(1);
}

static long hear(void)
{
	struct message message;
	if (recv(ends[0], &message, sizeof(message), MSG_WAITALL) != sizeof(message))
		exit(1);
	return (long)strlen(message.name);
}

static long names_of_all(int ahead)
{
	long length = 0;
	for (int user = 0; user < USERS; user += ahead) {
		for (int i = 0; i < ahead; i++)
			ask(user + i);
		for (int i = 0; i < ahead; i++)
			length += hear();
	}
	return length;
}

int main(int count, char **arguments)
{
	int fixed = count > 1 && !strcmp(arguments[1], "fixed");
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 1;
	if (fork() == 0) {
		close(ends[0]);
		serve();
		_exit(0);
	}
	close(ends[1]);
	printf("%ld\n", names_of_all(fixed ? AHEAD : 1));
	close(ends[0]);
	wait(NULL);
	return 0;
}
