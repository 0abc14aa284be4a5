// Fetches pages from a server with four threads and counts their bytes.
#include "fetch.h"
#include "http_server.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, PAGES = 75 };

static int port;

static void *fetch_pages(void *argument)
{
	long thread = (long)argument;
	struct pages pages = { 0 };
	for (int i = 0; i < PAGES; i++) {
		char path[64];
		snprintf(path, sizeof(path), "/%ld/%d", thread, i);
		fetch(port, path, &pages);
	}
	return (void *)pages.bytes;
}

int main(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
	port = start_server(3000);
	pthread_t threads[THREADS];
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, fetch_pages, (void *)i)) {
			perror("start a thread");
			return 1;
		}
	long bytes = 0;
	for (int i = 0; i < THREADS; i++) {
		void *sum;
		pthread_join(threads[i], &sum);
		bytes += (long)sum;
	}
	stop_server();
	printf("%d pages, %ld bytes\n", THREADS * PAGES, bytes);
	return 0;
}
