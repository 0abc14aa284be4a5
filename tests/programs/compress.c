// Compresses blocks of text, each by itself. Expect: nothing.

#include "support/compress.h"
#include "support/program.h"
#include "support/record.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 65536 };

int main(int argc, char **argv)
{
    size_t blocks = scaled(2200, argc, argv);
    unsigned char *block = allocate(1, BLOCK + RECORD_LINE_MAX);
    size_t in = 0, out = 0;
    uint32_t number = 0;

    for (size_t i = 0; i < blocks; i++) {
        size_t size = 0;
        while (size < BLOCK)
            size += write_record((char *)block + size, number++);
        for (int pass = 0; pass < 3; pass++) // three levels, say
            out += compressed_size(block, BLOCK);
        in += BLOCK;
    }
    printf("%zu bytes -> %zu\n", in, out / 3);
    free(block);
    return 0;
}
