// Four threads render tiles. `slow` does so while it holds the lock of the cache, `fixed` before it takes the lock.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, TILES = 4000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned cache[TILES];
static int fixed;

__attribute__((noinline)) static unsigned render(unsigned tile)
{
	for (int i = 0; i < 60000; i++)
		tile = (tile ^ tile >> 13) * 1664525u + 1013904223u;
	return tile;
}

static void add_tile(unsigned tile)
{
	unsigned rendered = fixed ? render(tile) : 0;
	pthread_mutex_lock(&lock);
	cache[tile] = fixed ? rendered : render(tile);
	pthread_mutex_unlock(&lock);
}

static void *work(void *thread)
{
	for (unsigned tile = (unsigned)(long)thread; tile < TILES; tile += THREADS)
		add_tile(tile);
	return NULL;
}

int main(int count, char **arguments)
{
	fixed = count > 1 && !strcmp(arguments[1], "fixed");
	pthread_t threads[THREADS];
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	unsigned sum = 0;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < TILES; i++)
		sum += cache[i];
	printf("%u\n", sum);
	return 0;
}
