// Merge sort both ways. `spare` has room for as many values.
#ifndef SUPPORT_MERGE_SORT_H
#define SUPPORT_MERGE_SORT_H

#include <stddef.h>
#include <stdint.h>

void merge_sort_top_down(uint64_t *values, uint64_t *spare, size_t count);
void merge_sort_bottom_up(uint64_t *values, uint64_t *spare, size_t count);

// Merges two sorted runs, from[0..middle) and from[middle..count), into `to`.
void merge(const uint64_t *from, uint64_t *to, size_t middle, size_t count);

#endif
