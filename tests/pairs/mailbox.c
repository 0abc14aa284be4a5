// Two processes deliver mail to one file. `slow` looks for spam while it holds the lock on the file, `fixed` before.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int fixed;
static int box;

__attribute__((noinline)) static unsigned rate(unsigned mail)
{
	for (int i = 0; i < 15000000; i++)
		mail = mail * 1664525u + 1013904223u;
	return mail;
}

static void deliver(unsigned mail)
{
	unsigned rating = fixed ? rate(mail) : 0;
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	if (fcntl(box, F_SETLKW, &whole))
		exit(1);
	dprintf(box, "%8u\n", (fixed ? rating : rate(mail)) % 10000000);
	whole.l_type = F_UNLCK;
	fcntl(box, F_SETLKW, &whole);
}

int main(int count, char **arguments)
{
	fixed = count > 1 && !strcmp(arguments[1], "fixed");
	FILE *file = tmpfile();
	if (!file)
		return 1;
	box = fileno(file);
	for (unsigned child = 0; child < 2; child++)
		if (fork() == 0) {
			for (unsigned mail = 0; mail < 25; mail++)
				deliver(mail * 2 + child);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	struct stat about;
	fstat(box, &about);
	printf("%ld bytes\n", (long)about.st_size);
	return 0;
}
