#include "digest.h"

#include "program.h"

// FNV-1a: a multiplication that waits for the one before, so about 4 cycles a byte.
uint64_t digest(const unsigned char *data, size_t size)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    return hash;
}

void fill(unsigned char *data, size_t size, uint64_t seed)
{
    uint64_t state = seed | 1;
    for (size_t i = 0; i < size; i++)
        data[i] = (unsigned char)(next_random(&state) >> 24);
}
