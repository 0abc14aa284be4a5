// Each record is synced before the next is written.

#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void append_record(struct log *log, const char *record, size_t size)
{
	if (write(log->fd, record, size) != (ssize_t)size || fsync(log->fd)) {
		perror("log");
		exit(1);
	}
	log->confirmed++;
}

void close_log(struct log *log)
{
	(void)log;
}
