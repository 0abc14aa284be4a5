// The scan is a static function that the compiler puts into main's loop. Expect: superlinear-work in is_known.

#include "support/program.h"
#include "support/record.h"

#include <stdbool.h>
#include <stdio.h>
#include <strings.h>

static bool is_known(const struct record *known, size_t count, const struct record *record)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(known[i].name, record->name) == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    size_t count = scaled(28000, argc, argv);
    struct record *known = allocate(count, sizeof(*known));
    size_t known_count = 0;
    char line[RECORD_LINE_MAX];

    for (size_t i = 0; i < count; i++) {
        struct record record;
        write_record(line, (uint32_t)i);
        parse_record(line, &record);
        if (!is_known(known, known_count, &record))
            known[known_count++] = record;
    }
    printf("%zu different\n", known_count);
    free(known);
    return 0;
}
