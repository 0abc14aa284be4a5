// Forks argv[1] children, 500 without, one after the other, that exit at once. Expect: each is counted, none is lost.

#include "support/child.h"
#include "support/program.h"

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    long children = argc > 1 ? atol(argv[1]) : 500;
    for (long i = 0; i < children; i++) {
        pid_t child = fork();
        if (child < 0)
            die("fork");
        if (child == 0)
            _exit(0);
        wait_for(child);
    }
    printf("%ld children\n", children);
    return 0;
}
