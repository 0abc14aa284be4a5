// Works for about 0.3 s and dies of SIGSEGV. Expect: the report, and that the program was killed by signal 11.

#include "support/digest.h"
#include "support/program.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    unsigned char block[4096];
    uint64_t sum = 0;
    for (size_t i = scaled(26000, argc, argv); i > 0; i--) {
        fill(block, sizeof(block), i);
        sum += digest(block, sizeof(block));
    }
    printf("%016llx\n", (unsigned long long)sum);
    fflush(stdout);
    volatile int *nowhere = NULL;
    *nowhere = 1;
    return 0;
}
