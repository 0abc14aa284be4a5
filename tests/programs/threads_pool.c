// Four workers take jobs from a queue under a lock; jobs are alike. Expect: nothing.

#include "support/digest.h"
#include "support/program.h"
#include "support/transform.h"

#include <pthread.h>
#include <stdio.h>

enum { WORKERS = 4 };

struct pool {
    pthread_mutex_t lock;
    size_t next, count;
    uint64_t result;
};

static void *work(void *argument)
{
    struct pool *pool = argument;
    unsigned char block[4096];
    for (;;) {
        pthread_mutex_lock(&pool->lock);
        size_t job = pool->next;
        if (job < pool->count)
            pool->next++;
        pthread_mutex_unlock(&pool->lock);
        if (job >= pool->count)
            return NULL;

        fill(block, sizeof(block), job);
        transform(block, sizeof(block), 4);
        uint64_t result = digest(block, sizeof(block));

        pthread_mutex_lock(&pool->lock);
        pool->result += result;
        pthread_mutex_unlock(&pool->lock);
    }
}

int main(int argc, char **argv)
{
    struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .count = scaled(64000, argc, argv)};
    pthread_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        if (pthread_create(&workers[i], NULL, work, &pool) != 0) {
            fprintf(stderr, "cannot start a thread\n");
            return 1;
        }
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("%016llx\n", (unsigned long long)pool.result);
    return 0;
}
