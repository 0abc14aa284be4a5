// Makes records as a server logs them, packs each by itself, and adds up what comes out.
#include "pack.h"
#include <stdio.h>

enum { RECORDS = 30000 };

int main(void)
{
	unsigned long size = 0, sum = 0;
	for (int i = 0; i < RECORDS; i++) {
		char record[256];
		int length = snprintf(record, sizeof(record), "record %d: user %d changed field %d from %d to %d", i, i % 77, i % 13, i * 7, i * 11);
		unsigned char packed[512];
		size_t bytes = pack((const unsigned char *)record, (size_t)length, packed, sizeof(packed));
		size += bytes;
		for (size_t at = 0; at < bytes; at++)
			sum = sum * 31 + packed[at];
	}
	printf("%lu bytes, sum %lx\n", size, sum);
	return 0;
}
