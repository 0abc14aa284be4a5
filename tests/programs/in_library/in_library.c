// Calls a growing function in a shared library. Expect: superlinear-work in unique_add of libunique.so.

#include "../support/program.h"
#include "../support/record.h"
#include "unique.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    size_t count = scaled(33000, argc, argv);
    struct unique *unique = unique_new();
    if (!unique)
        die("unique_new");

    char line[RECORD_LINE_MAX];
    struct record record;
    for (size_t i = 0; i < count; i++) {
        write_record(line, (uint32_t)i);
        parse_record(line, &record);
        // The name's padding is cleared, so that the whole array is the key.
        unsigned char key[UNIQUE_KEY_SIZE] = {0};
        snprintf((char *)key, sizeof(key), "%s", record.name);
        unique_add(unique, key);
    }
    printf("%zu keys\n", unique_count(unique));
    unique_free(unique);
    return 0;
}
