// Three kinds of waits on one CPU, beside a thread that makes system calls all the time and wakes nobody: sleeps and locks that time out, which timers end; and
// bytes of a pipe, which a third thread writes after each of its own sleeps.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 60, MS = 1000000 };
static volatile int done;
static int ends[2];
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *spin(void *unused)
{
	while (!done)
		syscall(SYS_getppid);
	return unused;
}

static void *write_bytes(void *unused)
{
	for (int at = 0; at < TIMES; at++) {
		nanosleep(&(struct timespec){.tv_nsec = 4 * MS}, NULL);
		if (write(ends[1], "x", 1) != 1)
			exit(1);
	}
	return unused;
}

static void until_time_is_over(void)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 3 * MS;
	if (until.tv_nsec >= 1000 * MS) {
		until.tv_nsec -= 1000 * MS;
		until.tv_sec++;
	}
	if (pthread_mutex_timedlock(&held, &until) != ETIMEDOUT)
		exit(1);
}

int main(void)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	// Where CPU 0 is not to be had, the two are seldom on the same one.
	sched_setaffinity(0, sizeof(one), &one);
	pthread_t spinner, writer;
	if (pipe(ends) || pthread_create(&spinner, NULL, spin, NULL))
		return 1;
	for (int at = 0; at < TIMES; at++)
		nanosleep(&(struct timespec){.tv_nsec = 3 * MS}, NULL);
	for (int at = 0; at < TIMES; at++)
		poll(NULL, 0, 3);
	pthread_mutex_lock(&held); // by this thread: no other will unlock it
	for (int at = 0; at < TIMES; at++)
		until_time_is_over();
	if (pthread_create(&writer, NULL, write_bytes, NULL))
		return 1;
	char byte;
	for (int at = 0; at < TIMES; at++)
		if (read(ends[0], &byte, 1) != 1)
			return 1;
	done = 1;
	pthread_join(writer, NULL);
	pthread_join(spinner, NULL);
	return 0;
}
