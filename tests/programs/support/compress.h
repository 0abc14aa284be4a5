// A small compressor of the LZ kind: copies of at least four bytes from up to 64 KiB back.
#ifndef SUPPORT_COMPRESS_H
#define SUPPORT_COMPRESS_H

#include <stddef.h>

// Returns the size that the block would have, compressed by itself.
size_t compressed_size(const unsigned char *block, size_t size);

#endif
