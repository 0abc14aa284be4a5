// Flat work by the byte: a checksum of a piece of memory, and a way to fill one.
#ifndef SUPPORT_DIGEST_H
#define SUPPORT_DIGEST_H

#include <stddef.h>
#include <stdint.h>

uint64_t digest(const unsigned char *data, size_t size);
void fill(unsigned char *data, size_t size, uint64_t seed);

#endif
