// Records that come together share a sync: none is confirmed before it is on the disk.

#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { GROUP = 250 };

static void sync_group(struct log *log)
{
	if (fsync(log->fd)) {
		perror("log");
		exit(1);
	}
	log->confirmed += log->pending;
	log->pending = 0;
}

void append_record(struct log *log, const char *record, size_t size)
{
	if (write(log->fd, record, size) != (ssize_t)size) {
		perror("log");
		exit(1);
	}
	if (++log->pending == GROUP)
		sync_group(log);
}

void close_log(struct log *log)
{
	if (log->pending)
		sync_group(log);
}
