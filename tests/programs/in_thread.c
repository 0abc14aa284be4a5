// One of three threads has the growth, the others do flat work. Expect: superlinear-work in name_list_insert.

#include "support/digest.h"
#include "support/load_names.h"
#include "support/program.h"

#include <pthread.h>
#include <stdio.h>

struct work {
    size_t count;
    uint64_t result;
};

static void *load(void *argument)
{
    struct work *work = argument;
    work->result = load_names(work->count);
    return NULL;
}

static void *check(void *argument)
{
    struct work *work = argument;
    unsigned char block[4096];
    for (size_t i = 0; i < work->count; i++) {
        fill(block, sizeof(block), i);
        work->result += digest(block, sizeof(block));
    }
    return NULL;
}

static void start(pthread_t *thread, void *(*function)(void *), struct work *work)
{
    if (pthread_create(thread, NULL, function, work) != 0) {
        fprintf(stderr, "cannot start a thread\n");
        exit(1);
    }
}

int main(int argc, char **argv)
{
    struct work work[3] = {
        {.count = scaled(29000, argc, argv)},
        {.count = scaled(45000, argc, argv)},
        {.count = scaled(45000, argc, argv)},
    };
    pthread_t threads[3];
    start(&threads[0], load, &work[0]);
    start(&threads[1], check, &work[1]);
    start(&threads[2], check, &work[2]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%zu names, %016llx\n", (size_t)work[0].result,
           (unsigned long long)(work[1].result + work[2].result));
    return 0;
}
