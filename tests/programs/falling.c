// Takes jobs from the front of an array, which moves all that are left. Expect: superlinear-work in queue_take.
// Each call is cheaper than the one before.

#include "support/digest.h"
#include "support/program.h"
#include "support/queue.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    struct queue queue = {.count = scaled(34000, argc, argv)};
    queue.jobs = allocate(queue.count, sizeof(*queue.jobs));
    struct job *const jobs = queue.jobs;
    for (size_t i = 0; i < queue.count; i++) {
        jobs[i].number = (uint32_t)i;
        fill(jobs[i].payload, sizeof(jobs[i].payload), i);
    }

    uint64_t sum = 0;
    struct job job;
    while (queue_take(&queue, &job)) {
        for (int round = 0; round < 8; round++)
            sum += digest(job.payload, sizeof(job.payload)) + job.number;
    }
    printf("%016llx\n", (unsigned long long)sum);
    free(jobs);
    return 0;
}
