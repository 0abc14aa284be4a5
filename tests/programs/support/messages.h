// Records of which messages are formatted, which are kept or not.
#ifndef MESSAGES_H
#define MESSAGES_H

#include "program.h"

#include <stdarg.h>
#include <stdio.h>

enum { RECORDS = 16000000 };

static uint64_t kept;

static __attribute__((noinline, format(printf, 2, 3))) void log_debug(int keep, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (keep)
        for (int at = 0; at < length; at++)
            kept = kept * 31 + (unsigned char)text[at];
}

static int take_records(int argc, char **argv, int keep)
{
    uint64_t random = 1, sum = 0;
    for (size_t record = 0, records = scaled(RECORDS, argc, argv); record < records; record++) {
        uint64_t value = next_random(&random);
        sum += value % 1000;
        log_debug(keep, "record %zu has the value %llu of the kind %s", record, (unsigned long long)(value % 100000), value & 1 ? "odd" : "even");
    }
    printf("%llu %llu\n", (unsigned long long)sum, (unsigned long long)kept);
    return 0;
}

#endif
