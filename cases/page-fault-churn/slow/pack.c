// A compressor for each record.
#include "pack.h"
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

size_t pack(const unsigned char *record, size_t size, unsigned char *to, size_t room)
{
	uLongf packed = room;
	int status = compress2(to, &packed, record, size, Z_DEFAULT_COMPRESSION);
	if (status != Z_OK) {
		fprintf(stderr, "pack a record: %s\n", zError(status));
		exit(1);
	}
	return packed;
}
