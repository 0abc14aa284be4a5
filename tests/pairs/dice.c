// Throws dice in two threads. `slow` draws by rand, `fixed` by a generator of each thread.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fixed;

static void *throw(void *of)
{
	uint32_t state = 2463534242u;
	long *counts = of;
	for (int i = 0; i < 3000000; i++) {
		if (fixed) {
			state ^= state << 13;
			state ^= state >> 17;
			state ^= state << 5;
			counts[state % 6]++;
		} else {
			counts[rand() % 6]++;
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	fixed = argc > 1 && !strcmp(argv[1], "fixed");
	pthread_t threads[2];
	static long counts[2][64];
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, throw, counts[i]))
			return 1;
	long all = 0;
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		for (int side = 0; side < 6; side++)
			all += counts[i][side];
	}
	printf("%ld\n", all);
	return 0;
}
