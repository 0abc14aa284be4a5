// A hash table of keys, open addressing, that doubles when it is half full.
#ifndef SUPPORT_HASH_TABLE_H
#define SUPPORT_HASH_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct hash_table {
    uint64_t *slots; // 0 is an empty one
    size_t room, count;
};

// Adds keys, none of which may be 0; those that are there already change nothing.
void insert_batch(struct hash_table *table, const uint64_t *keys, size_t count);

#endif
