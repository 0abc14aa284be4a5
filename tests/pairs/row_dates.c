// Turns the dates of a log into seconds. `slow` calls mktime for each line, `fixed` once for each hour.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static time_t seconds(const char *text, int fixed)
{
	static char last[14];
	static time_t begun;
	int hour = atoi(text + 11), minute = atoi(text + 14), second = atoi(text + 17);
	struct tm date = { .tm_year = atoi(text) - 1900, .tm_mon = atoi(text + 5) - 1, .tm_mday = atoi(text + 8), .tm_isdst = -1 };
	if (fixed) {
		if (strncmp(last, text, 13)) {
			memcpy(last, text, 13);
			date.tm_hour = hour;
			begun = mktime(&date);
		}
		return begun + minute * 60 + second;
	}
	date.tm_hour = hour;
	date.tm_min = minute;
	date.tm_sec = second;
	return mktime(&date);
}

int main(int argc, char **argv)
{
	int fixed = argc > 1 && !strcmp(argv[1], "fixed");
	setenv("TZ", "Europe/Berlin", 1);
	tzset();
	unsigned long sum = 0;
	char line[64];
	for (int i = 0; i < 1500000; i++) {
		snprintf(line, sizeof line, "2024-07-%02d %02d:%02d:%02d", 1 + i / 86400, i / 3600 % 24, i / 60 % 60, i % 60);
		sum = sum * 31 + (unsigned long) seconds(line, fixed);
	}
	printf("%lu\n", sum);
	return 0;
}
