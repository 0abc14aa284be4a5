// qsort and merge sort, top down and bottom up: calls of merge get dearer and fewer. Expect: nothing.

#include "support/merge_sort.h"
#include "support/program.h"

#include <stdio.h>

static int by_value(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void shuffle(uint64_t *values, size_t count)
{
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < count; i++)
        values[i] = next_random(&state);
}

int main(int argc, char **argv)
{
    size_t count = scaled(5000000, argc, argv);
    uint64_t *values = allocate(count, sizeof(*values));
    uint64_t *spare = allocate(count, sizeof(*spare));
    uint64_t sum = 0;

    shuffle(values, count);
    qsort(values, count, sizeof(*values), by_value);
    sum += values[count / 2];
    shuffle(values, count);
    merge_sort_top_down(values, spare, count);
    sum += values[count / 3];
    shuffle(values, count);
    merge_sort_bottom_up(values, spare, count);
    sum += values[count / 4];

    printf("%016llx\n", (unsigned long long)sum);
    free(values);
    free(spare);
    return 0;
}
