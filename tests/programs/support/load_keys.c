#include "load_keys.h"

#include "digest.h"
#include "hash_table.h"

#include <stdlib.h>

enum { BATCH = 256, ITEM_SIZE = 64 };

// A key is the digest of an item of its own, as for a cache of contents.
static void make_keys(uint64_t *keys, size_t first)
{
    unsigned char item[ITEM_SIZE];
    for (size_t i = 0; i < BATCH; i++) {
        fill(item, sizeof(item), (first + i) * 2 + 1);
        keys[i] = digest(item, sizeof(item)) | 1;
    }
}

size_t load_keys(size_t batches)
{
    struct hash_table table = {0};
    uint64_t keys[BATCH];
    for (size_t i = 0; i < batches; i++) {
        make_keys(keys, i * BATCH);
        insert_batch(&table, keys, BATCH);
    }
    free(table.slots);
    return table.count;
}
