#include "merge_sort.h"

void merge(const uint64_t *from, uint64_t *to, size_t middle, size_t count)
{
    size_t left = 0, right = middle;
    for (size_t i = 0; i < count; i++) {
        if (right == count || (left < middle && from[left] <= from[right]))
            to[i] = from[left++];
        else
            to[i] = from[right++];
    }
}
