// The shared library of in_library.c and in_library_dlopen.c. Expect: superlinear-work in unique_add.

#include "unique.h"

#include <stdlib.h>
#include <string.h>

struct unique {
    unsigned char *keys;
    size_t key_size, count, room;
};

struct unique *unique_new(size_t key_size)
{
    struct unique *unique = calloc(1, sizeof(*unique));
    if (unique)
        unique->key_size = key_size;
    return unique;
}

bool unique_add(struct unique *unique, const void *key)
{
    for (size_t i = 0; i < unique->count; i++) {
        if (memcmp(unique->keys + i * unique->key_size, key, unique->key_size) == 0)
            return false;
    }
    if (unique->count == unique->room) {
        size_t room = unique->room ? 2 * unique->room : 256;
        void *grown = realloc(unique->keys, room * unique->key_size);
        if (!grown)
            abort();
        unique->keys = grown;
        unique->room = room;
    }
    memcpy(unique->keys + unique->count++ * unique->key_size, key, unique->key_size);
    return true;
}

size_t unique_count(const struct unique *unique)
{
    return unique->count;
}

void unique_free(struct unique *unique)
{
    free(unique->keys);
    free(unique);
}
