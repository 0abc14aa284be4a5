// A thread computes, and main waits for it in a loop that reads a flag and the clock (`await_result`). Expect: waits in a loop without sleeping, there. With the
// argument `clean` it waits for a condition; with `brief` it looks at the flag 1,000 times before it does. Expect: nothing.

#include "support/program.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t done;
    atomic_bool finished;
    uint64_t job, result;
} desk = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static uint64_t collatz(uint64_t from, uint64_t to)
{
    uint64_t steps = 0;
    for (uint64_t start = from; start < to; start++)
        for (uint64_t n = start; n > 1; n = n % 2 ? 3 * n + 1 : n / 2)
            steps++;
    return steps;
}

static void *work(void *unused)
{
    uint64_t result = collatz(desk.job, desk.job + 200000);
    pthread_mutex_lock(&desk.lock);
    desk.result = result;
    atomic_store(&desk.finished, true);
    pthread_cond_signal(&desk.done);
    pthread_mutex_unlock(&desk.lock);
    return unused;
}

/// Returns when there is a result, or after ten seconds.
__attribute__((noinline)) static void await_result(void)
{
    time_t begin = time(NULL);
    while (!atomic_load(&desk.finished) && time(NULL) < begin + 10) {
    }
}

int main(int argc, char **argv)
{
    uint64_t sum = 0, rounds = scaled(12, argc, argv);
    const char *how = argc > 2 ? argv[2] : "";
    for (uint64_t round = 0; round < rounds; round++) {
        desk.job = 1 + round * 200000;
        atomic_store(&desk.finished, false);
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL))
            die("pthread_create");
        if (*how == '\0')
            await_result();
        for (int look = 0; strcmp(how, "brief") == 0 && look < 1000 && !atomic_load(&desk.finished); look++) {
        }
        pthread_mutex_lock(&desk.lock);
        while (!atomic_load(&desk.finished))
            pthread_cond_wait(&desk.done, &desk.lock);
        pthread_mutex_unlock(&desk.lock);
        pthread_join(thread, NULL);
        sum += desk.result;
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
