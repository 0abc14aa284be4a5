// The scan is a static function that the compiler puts into main's loop. Expect: superlinear-work in main (inlined: is_known).

#include "support/program.h"
#include "support/record.h"

#include <stdio.h>

static int is_known(const uint32_t *checksums, size_t count, uint32_t checksum)
{
    for (size_t i = 0; i < count; i++) {
        if (checksums[i] == checksum)
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    size_t count = scaled(70000, argc, argv);
    uint32_t *checksums = allocate(count, sizeof(*checksums));
    size_t known = 0;
    char line[RECORD_LINE_MAX];
    struct record record;

    for (size_t i = 0; i < count; i++) {
        write_record(line, (uint32_t)i);
        parse_record(line, &record);
        if (!is_known(checksums, known, record.checksum))
            checksums[known++] = record.checksum;
    }
    printf("%zu different\n", known);
    free(checksums);
    return 0;
}
