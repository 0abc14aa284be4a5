#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t write_record(char line[RECORD_LINE_MAX], uint32_t number)
{
    size_t at = (size_t)snprintf(line, RECORD_LINE_MAX, "customer-%010u", number);
    for (uint32_t i = 0; i < RECORD_FIELDS; i++) {
        // Always ten digits, so that all lines are equally long.
        uint32_t value = 1000000000u + (number * 2654435761u + i * 40503u) % 1000000000u;
        at += (size_t)snprintf(line + at, RECORD_LINE_MAX - at, ",%u", value);
    }
    return at;
}

// CRC-32, bit by bit.
static uint32_t checksum(const char *text, size_t size)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; i++) {
        crc ^= (unsigned char)text[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0xedb88320u & -(crc & 1));
    }
    return ~crc;
}

void parse_record(const char *line, struct record *record)
{
    size_t length = strcspn(line, ",");
    if (length >= sizeof(record->name))
        length = sizeof(record->name) - 1;
    memcpy(record->name, line, length);
    record->name[length] = '\0';

    const char *at = line + length;
    for (int i = 0; i < RECORD_FIELDS; i++) {
        char *end;
        record->fields[i] = *at == ',' ? (uint32_t)strtoul(at + 1, &end, 10) : 0;
        at = *at == ',' ? end : at;
    }
    record->checksum = checksum(line, strlen(line));
}
