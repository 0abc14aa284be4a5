// Calls a growing function in a shared library. Expect: superlinear-work in unique_add of libunique.so.

#include "../support/program.h"
#include "../support/record.h"
#include "unique.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    size_t count = scaled(34000, argc, argv);
    char line[RECORD_LINE_MAX];
    struct record record = {0}; // all of it is the key, with the zeros after the name
    struct unique *unique = unique_new(sizeof(record));
    if (!unique)
        die("unique_new");

    for (size_t i = 0; i < count; i++) {
        write_record(line, (uint32_t)i);
        parse_record(line, &record);
        unique_add(unique, &record);
    }
    printf("%zu keys\n", unique_count(unique));
    unique_free(unique);
    return 0;
}
