// A queue of jobs in an array, first in, first out: taking one moves all others down.
#ifndef SUPPORT_QUEUE_H
#define SUPPORT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job {
    uint32_t number;
    unsigned char payload[252];
};

struct queue {
    struct job *jobs;
    size_t count;
};

bool queue_take(struct queue *queue, struct job *job);

#endif
