// Filters the lines of a log and prints how many each rule marks.
#include "rules.h"
#include <stdio.h>

enum { LINES = 40000 };

const char *const expressions[RULES] = {
	"^\\S+ \\S+ \\[[^\\]]+\\] \"(?:GET|POST|PUT|DELETE) /(?:api|admin)/v[0-9]+/[a-z]+(?:/[0-9]+)? HTTP/1\\.[01]\" 5[0-9][0-9]\\b",
	"\\b(?:10|127)\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\b.*\"(?:GET|HEAD) /(?:login|logout|session)",
	"(?i)(?:curl|wget|python-requests|go-http-client)/(?<major>[0-9]+)\\.[0-9]+(?:\\.[0-9]+)?\"$",
};

static const char *const paths[] = { "/api/v2/orders/17", "/login", "/index.html", "/admin/v1/users", "/session" };
static const char *const clients[] = { "Mozilla/5.0 (X11; Linux x86_64)", "curl/7.88.1", "Go-http-client/1.1" };

int main(void)
{
	unsigned long marked[RULES] = { 0 };
	for (unsigned i = 0; i < LINES; i++) {
		char line[256];
		int length = snprintf(line, sizeof(line), "%u.%u.3.%u - [21/Nov/2026:10:%02u:%02u] \"GET %s HTTP/1.1\" %u %u \"%s\"",
				      i % 3 ? 192 : 10, i % 200, i % 251, i / 60 % 60, i % 60, paths[i % 5], i % 7 ? 200 : 503, i % 9000,
				      clients[i % 3]);
		for (int rule = 0; rule < RULES; rule++)
			marked[rule] += matches(rule, line, (size_t)length);
	}
	printf("%lu server errors, %lu local logins, %lu programs\n", marked[0], marked[1], marked[2]);
	return 0;
}
