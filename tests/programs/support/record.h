// The input of most test programs: lines of text, made up by number, and their parser. A line's
// cost does not depend on its number: this is the flat work beside whatever a program shows.
#ifndef SUPPORT_RECORD_H
#define SUPPORT_RECORD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RECORD_LINE_MAX = 512, RECORD_FIELDS = 24 };

struct record {
    char name[32];
    uint32_t fields[RECORD_FIELDS];
    uint32_t checksum;
};

// Writes line `number` as text and returns its length.
size_t write_record(char line[RECORD_LINE_MAX], uint32_t number);

// Reads such a line: its name, its fields, and a checksum over all of it.
void parse_record(const char *line, struct record *record);

#ifdef __cplusplus
}
#endif

#endif
