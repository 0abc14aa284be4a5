// A session for each thread.
#include "fetch.h"

void fetch(int port, const char *path, struct pages *pages)
{
	static _Thread_local CURL *session;
	if (!session)
		session = curl_easy_init();
	prepare(session, port, path, pages);
	must(curl_easy_perform(session));
}
