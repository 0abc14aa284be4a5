#include "arena.h"

#include "digest.h"
#include "program.h"

enum { USED = 65536 };

uint64_t serve(struct arena *arena, size_t number)
{
    unsigned char **buffer = &arena->buffers[number % ARENA_BUFFERS];
    if (!*buffer) {
        // The first touch of each page is a fault, and all of it is filled with a background.
        *buffer = allocate(1, ARENA_BUFFER_SIZE);
        fill(*buffer, ARENA_BUFFER_SIZE, number);
    }
    unsigned char *part = *buffer + number % 16 * USED;
    part[0] = (unsigned char)number;
    return digest(part, USED);
}

void arena_free(struct arena *arena)
{
    for (int i = 0; i < ARENA_BUFFERS; i++)
        free(arena->buffers[i]);
}
