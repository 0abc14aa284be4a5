// Expect: failed lookups or nothing, and rows that stay few. Looks for so many files a second (first argument), for so many seconds (second), each
// under a name of its own and at a depth of recursion of its own, or so many times under each name (third), and prints how many: what a recording
// takes where hardly any call is like another.

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

__attribute__((noinline)) static int look(long name, int depth)
{
	if (depth > 0)
		return look(name, depth - 1) + 1;
	char path[64];
	struct stat found;
	snprintf(path, sizeof path, "/nowhere/%ld", name);
	return stat(path, &found) == 0;
}

int main(int count, char **arguments)
{
	long times = count > 3 ? atol(arguments[3]) : 1;
	double rate = count > 1 ? atof(arguments[1]) : 100000, seconds = count > 2 ? atof(arguments[2]) : 1, start = now();
	long deep = 0, calls = 0;
	while (now() - start < seconds) {
		for (int one = 0; one < 20; one++, calls++)
			deep += look(calls / times, calls / times % 50);
		while (calls > rate * (now() - start) && now() - start < seconds)
			;
	}
	printf("%ld\n", calls);
	return deep == 0;
}
