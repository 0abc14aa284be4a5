#include "compress.h"

#include <stdint.h>
#include <string.h>

enum { WINDOW = 65536, TABLE_BITS = 12, MIN_COPY = 4, COPY_COST = 3 };

static uint32_t four_bytes(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

size_t compressed_size(const unsigned char *block, size_t size)
{
    uint32_t last_seen[1 << TABLE_BITS] = {0}; // position + 1 of four bytes with this hash
    size_t out = 0;

    for (size_t at = 0; at < size;) {
        size_t copied = 0;
        if (at + MIN_COPY <= size) {
            uint32_t value = four_bytes(block + at);
            uint32_t *seen = &last_seen[value * 2654435761u >> (32 - TABLE_BITS)];
            if (*seen && at - (*seen - 1) < WINDOW) {
                const unsigned char *earlier = block + *seen - 1;
                while (at + copied < size && earlier[copied] == block[at + copied])
                    copied++;
            }
            *seen = (uint32_t)at + 1;
        }
        if (copied >= MIN_COPY) {
            at += copied;
            out += COPY_COST;
        } else {
            at++;
            out++;
        }
    }
    return out;
}
