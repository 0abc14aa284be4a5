#include "queue.h"

#include <string.h>

bool queue_take(struct queue *queue, struct job *job)
{
    if (queue->count == 0)
        return false;
    *job = queue->jobs[0];
    queue->count--;
    memmove(queue->jobs, queue->jobs + 1, queue->count * sizeof(*queue->jobs));
    return true;
}
