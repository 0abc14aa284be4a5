// Expect: a process for every operation. Forks and executes /bin/true so many times (argument), one after the other: what a
// recording of many processes takes.

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments)
{
	int wanted = count > 1 ? atoi(arguments[1]) : 1000;
	for (int one = 0; one < wanted; one++) {
		pid_t child = fork();
		if (child == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		if (child < 0 || waitpid(child, NULL, 0) < 0)
			return 1;
	}
	return 0;
}
