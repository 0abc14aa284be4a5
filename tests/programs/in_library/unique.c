// The shared library of in_library.c and in_library_dlopen.c. Expect: superlinear-work in unique_add.

#include "unique.h"

#include <stdlib.h>
#include <string.h>

struct unique {
    unsigned char (*keys)[UNIQUE_KEY_SIZE];
    size_t count, room;
};

struct unique *unique_new(void)
{
    return calloc(1, sizeof(struct unique));
}

bool unique_add(struct unique *unique, const unsigned char key[UNIQUE_KEY_SIZE])
{
    for (size_t i = 0; i < unique->count; i++) {
        if (memcmp(unique->keys[i], key, UNIQUE_KEY_SIZE) == 0)
            return false;
    }
    if (unique->count == unique->room) {
        size_t room = unique->room ? 2 * unique->room : 256;
        void *grown = realloc(unique->keys, room * sizeof(*unique->keys));
        if (!grown)
            abort();
        unique->keys = grown;
        unique->room = room;
    }
    memcpy(unique->keys[unique->count++], key, UNIQUE_KEY_SIZE);
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
