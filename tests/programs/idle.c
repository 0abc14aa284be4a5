// Sleeps for a second and does next to nothing. Expect: nothing about the CPU.

#include "support/program.h"

#include <stdio.h>
#include <time.h>

int main(int argc, char **argv)
{
    size_t naps = scaled(20, argc, argv);
    const struct timespec nap = {.tv_nsec = 50 * 1000 * 1000};
    for (size_t i = 0; i < naps; i++)
        nanosleep(&nap, NULL);
    printf("%zu naps\n", naps);
    return 0;
}
