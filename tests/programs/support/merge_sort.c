#include "merge_sort.h"

#include <string.h>

void merge_sort_top_down(uint64_t *values, uint64_t *spare, size_t count)
{
    if (count < 2)
        return;
    size_t middle = count / 2;
    merge_sort_top_down(values, spare, middle);
    merge_sort_top_down(values + middle, spare, count - middle);
    merge(values, spare, middle, count);
    memcpy(values, spare, count * sizeof(*values));
}

void merge_sort_bottom_up(uint64_t *values, uint64_t *spare, size_t count)
{
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t at = 0; at < count; at += 2 * width) {
            size_t end = at + 2 * width < count ? at + 2 * width : count;
            size_t middle = at + width < end ? width : end - at;
            merge(values + at, spare + at, middle, end - at);
        }
        memcpy(values, spare, count * sizeof(*values));
    }
}
