// Starts a program for each of 60 orders from a process that uses 400 MB, by fork: each time its page tables are copied, and thrown away again. Expect:
// process-per-operation, as a copy, in start_by_fork. With the argument `spawn` it is started by posix_spawn, which copies nothing.
// With `itself` the child executes nothing and counts a little: the process is copied for each operation. With `long` it counts for longer than copying takes,
// and nothing is to be found.

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
enum { ORDERS = 60 };
static const size_t SIZE = 400u << 20, PAGE = 4096;

__attribute__((noinline)) static pid_t start_by_fork(char *const arguments[])
{
    pid_t child = fork();
    if (child == 0) {
        execv(arguments[0], arguments);
        _exit(127);
    }
    return child;
}

__attribute__((noinline)) static pid_t start_by_spawn(char *const arguments[])
{
    pid_t child = -1;
    posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ);
    return child;
}

__attribute__((noinline)) static pid_t start_itself(const char *stock, int rounds)
{
    pid_t child = fork();
    if (child == 0) {
        volatile unsigned sum = 0;
        for (int round = 0; round < rounds; round++)
            for (size_t at = 0; at < SIZE; at += 1024 * PAGE)
                sum += (unsigned char)stock[at];
        _exit(0);
    }
    return child;
}

int main(int count, char **arguments)
{
    const char *mode = count > 1 ? arguments[1] : "";
    int spawns = strcmp(mode, "spawn") == 0, rounds = strcmp(mode, "itself") == 0 ? 10 : strcmp(mode, "long") == 0 ? 120000 : 0;
    // Small pages, as most programs have them: large ones are few to copy.
    char *stock = aligned_alloc(PAGE, SIZE);
    if (!stock)
        return 1;
    for (size_t at = 0; at < SIZE; at += PAGE)
        stock[at] = (char)at;
    char *notify[] = {"/bin/true", NULL};
    int failed = 0;
    for (int order = 0; order < ORDERS; order++) {
        int state = -1;
        pid_t child = rounds   ? start_itself(stock, rounds)
                      : spawns ? start_by_spawn(notify)
                               : start_by_fork(notify);
        if (child < 0 || waitpid(child, &state, 0) < 0)
            return 1;
        failed += state != 0;
        for (size_t at = 0; at < SIZE; at += 64 * PAGE)
            stock[at]++;
    }
    printf("%d of %d failed\n", failed, ORDERS);
    free(stock);
    return failed != 0;
}
