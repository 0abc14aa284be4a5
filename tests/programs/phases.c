// One function in three phases, each dearer a call than the one before: steps, no growth. Expect: nothing.

#include "support/digest.h"
#include "support/program.h"
#include "support/transform.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    static const unsigned rounds[] = {2, 5, 11}; // draft, normal, best
    size_t calls = scaled(11000, argc, argv);
    unsigned char block[8192];
    fill(block, sizeof(block), 1);

    for (int phase = 0; phase < 3; phase++) {
        for (size_t i = 0; i < calls; i++)
            transform(block, sizeof(block), rounds[phase]);
    }
    printf("%016llx\n", (unsigned long long)digest(block, sizeof(block)));
    return 0;
}
