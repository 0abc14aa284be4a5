// Items of random size, processed in time proportional to it. Expect: nothing.

#include "support/digest.h"
#include "support/program.h"
#include "support/transform.h"

#include <stdio.h>

enum { LARGEST = 1 << 18 };

int main(int argc, char **argv)
{
    size_t items = scaled(27000, argc, argv);
    unsigned char *item = allocate(1, LARGEST);
    fill(item, LARGEST, 1);
    uint64_t state = 88172645463325252u;

    for (size_t i = 0; i < items; i++) {
        // A few large ones among many small, as files are.
        size_t size = next_random(&state) % LARGEST >> next_random(&state) % 4;
        transform(item, size + 1, 1);
    }
    printf("%016llx\n", (unsigned long long)digest(item, LARGEST));
    free(item);
    return 0;
}
