// Updates accounts and has a message formatted for each, before it is looked whether such messages are logged at all. Fixed: it is looked first.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ACCOUNTS = 1000, UPDATES = 6000000 };

static int level;
static int first;
static unsigned long written;

__attribute__((noinline)) static void write_line(const char *line)
{
	written += strlen(line);
}

__attribute__((noinline, format(printf, 2, 3))) static void log_message(int of, const char *format, ...)
{
	if (first && of > level)
		return;
	char text[512];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (of <= level)
		write_line(text);
}

static unsigned long next(unsigned long *seed)
{
	return (*seed = *seed * 6364136223846793005ul + 1442695040888963407ul) >> 33;
}

int main(int argc, char **argv)
{
	first = argc > 1 && !strcmp(argv[1], "fixed");
	level = 1;
	static long accounts[ACCOUNTS];
	unsigned long seed = 1;
	for (long update = 0; update < UPDATES; update++) {
		unsigned from = next(&seed) % ACCOUNTS, to = next(&seed) % ACCOUNTS;
		long amount = next(&seed) % 10000;
		for (int share = 0; share < 40; share++)
			accounts[(to + share * 7) % ACCOUNTS] += amount / 40 + next(&seed) % 3;
		accounts[from] -= amount;
		log_message(update % 100000 ? 2 : 1, "moved %ld from account %u to account %u, %ld left", amount, from, to, accounts[from]);
	}
	long sum = 0;
	for (int at = 0; at < ACCOUNTS; at++)
		sum = sum * 31 + accounts[at];
	printf("%ld %lu\n", sum, written);
}
