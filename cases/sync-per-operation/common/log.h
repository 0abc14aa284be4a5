// An append-only log that confirms a record when it is on the disk.
#pragma once

#include <stddef.h>

struct log {
	int fd;
	size_t pending; // records written and not yet confirmed
	size_t confirmed;
};

// Appends a record. The two programs differ in when it is synced and confirmed.
void append_record(struct log *log, const char *record, size_t size);
// Confirms what is left.
void close_log(struct log *log);
