// Works on a block of bytes `rounds` times over, in place.
#ifndef SUPPORT_TRANSFORM_H
#define SUPPORT_TRANSFORM_H

#include <stddef.h>
#include <stdint.h>

void transform(unsigned char *block, size_t size, unsigned rounds);

#endif
