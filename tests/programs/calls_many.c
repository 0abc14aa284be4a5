// Expect: nothing. Makes so many system calls a second (first argument), for so many seconds (second), in pairs of reads of one
// byte of /dev/zero: what a long recording takes.

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **arguments)
{
	double rate = count > 1 ? atof(arguments[1]) : 100000, seconds = count > 2 ? atof(arguments[2]) : 1;
	int file = open("/dev/zero", O_RDONLY);
	char byte;
	double start = now();
	for (double calls = 0; now() - start < seconds; calls += 20) {
		for (int one = 0; one < 20; one++)
			if (read(file, &byte, 1) != 1)
				return 1;
		while (calls > rate * (now() - start) && now() - start < seconds)
			;
	}
	return 0;
}
