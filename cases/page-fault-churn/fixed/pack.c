// One compressor, reset for each record.
#include "pack.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

static void check(int status, int expected)
{
	if (status != expected) {
		fprintf(stderr, "pack a record: %s\n", zError(status));
		exit(1);
	}
}

size_t pack(const unsigned char *record, size_t size, unsigned char *to, size_t room)
{
	static z_stream stream;
	static bool made;
	check(made ? deflateReset(&stream) : deflateInit(&stream, Z_DEFAULT_COMPRESSION), Z_OK);
	made = true;
	stream.next_in = (Bytef *)record;
	stream.avail_in = (uInt)size;
	stream.next_out = to;
	stream.avail_out = (uInt)room;
	check(deflate(&stream, Z_FINISH), Z_STREAM_END);
	return stream.total_out;
}
