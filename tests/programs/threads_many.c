// Starts argv[1] threads, 200 without, all at the same time, each with a bit of work. Expect: each is counted, no finding.

#include "support/digest.h"
#include "support/program.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static void *work(void *argument)
{
    uint64_t *result = argument;
    unsigned char block[4096];
    for (uint64_t i = 0; i < 200; i++) {
        fill(block, sizeof(block), i);
        *result += digest(block, sizeof(block));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 200;
    if (count < 1) {
        fprintf(stderr, "usage: %s [THREADS]\n", argv[0]);
        return 2;
    }
    pthread_t *threads = allocate((size_t)count, sizeof(*threads));
    uint64_t *results = allocate((size_t)count, sizeof(*results));
    for (long i = 0; i < count; i++) {
        errno = pthread_create(&threads[i], NULL, work, &results[i]);
        if (errno != 0)
            die("pthread_create");
    }
    uint64_t sum = 0;
    for (long i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum += results[i];
    }
    printf("%ld threads, %016llx\n", count, (unsigned long long)sum);
    free(threads);
    free(results);
    return 0;
}
