// One entry of the list of names: two bytes of length, high byte first, and the name itself.
#ifndef RDN_H
#define RDN_H

#include <stddef.h>
#include <string.h>

enum { RDN_LENGTH_BYTES = 2, RDN_MAX = 0xffff };

// Writes an entry and returns where the next one goes.
static inline unsigned char *put_rdn(unsigned char *out, const unsigned char *name, size_t size)
{
    out[0] = (unsigned char)(size >> 8);
    out[1] = (unsigned char)size;
    memcpy(out + RDN_LENGTH_BYTES, name, size);
    return out + RDN_LENGTH_BYTES + size;
}

#endif
