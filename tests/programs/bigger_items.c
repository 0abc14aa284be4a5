// Each item is larger than the one before and takes time in proportion. Expect: at most a hint.
// The work is linear in the input, but nothing beside it shows how large the items are.

#include "support/digest.h"
#include "support/program.h"
#include "support/transform.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    size_t items = scaled(7500, argc, argv);
    const size_t step = 64;
    unsigned char *data = allocate(items, step);
    fill(data, items * step, 1);

    for (size_t i = 1; i <= items; i++)
        transform(data, i * step, 1);
    printf("%016llx\n", (unsigned long long)digest(data, items * step));
    free(data);
    return 0;
}
