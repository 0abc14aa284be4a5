// A ring of buffers that are made when they are first used.
#ifndef SUPPORT_ARENA_H
#define SUPPORT_ARENA_H

#include <stddef.h>
#include <stdint.h>

enum { ARENA_BUFFERS = 100, ARENA_BUFFER_SIZE = 1 << 20 };

struct arena {
    unsigned char *buffers[ARENA_BUFFERS];
};

// Renders request `number` into its buffer and returns a digest of it.
uint64_t serve(struct arena *arena, size_t number);
void arena_free(struct arena *arena);

#endif
