// The first hundred calls make buffers and fault their pages in, the others are flat. Expect: nothing.

#include "support/arena.h"
#include "support/program.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    size_t requests = scaled(23000, argc, argv);
    struct arena *arena = allocate(1, sizeof(*arena));
    uint64_t sum = 0;
    for (size_t i = 0; i < requests; i++)
        sum ^= serve(arena, i);
    printf("%016llx\n", (unsigned long long)sum);
    arena_free(arena);
    free(arena);
    return 0;
}
