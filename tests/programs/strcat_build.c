// Builds a text with strcat, which looks for its end each time: the scan is in libc. Expect: superlinear-work in append_line.

#include "support/page.h"
#include "support/program.h"
#include "support/record.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    size_t count = scaled(34000, argc, argv);
    char *page = allocate(count + 1, RECORD_LINE_MAX);
    char line[RECORD_LINE_MAX];
    struct record record;

    for (size_t i = 0; i < count; i++) {
        write_record(line, (uint32_t)i);
        parse_record(line, &record);
        append_line(page, line);
    }
    printf("%zu bytes\n", strlen(page));
    free(page);
    return 0;
}
