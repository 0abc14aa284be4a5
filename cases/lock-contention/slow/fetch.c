// One session for all threads, behind a lock.
#include "fetch.h"
#include <pthread.h>

void fetch(int port, const char *path, struct pages *pages)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static CURL *session;
	pthread_mutex_lock(&lock);
	if (!session)
		session = curl_easy_init();
	prepare(session, port, path, pages);
	must(curl_easy_perform(session));
	pthread_mutex_unlock(&lock);
}
