// One thread hands numbers to another, which looks for them every 4 ms instead of waiting for a condition. Expect: polls in a sleep loop,
// in await_job. With the argument `clean`: it waits for a condition, and a third thread looks every 2 ms whether it is to stop. Expect: nothing.
// With `paced`: a thread sleeps before each number that it hands to the other, as a game before each frame. Expect: nothing.

#include "support/program.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t handed, done;
    bool full, finished, stop;
    uint64_t job, result;
} desk = {.lock = PTHREAD_MUTEX_INITIALIZER, .handed = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static bool clean, paced;
static uint64_t beats;

static uint64_t collatz(uint64_t from, uint64_t to)
{
    uint64_t steps = 0;
    for (uint64_t start = from; start < to; start++)
        for (uint64_t n = start; n > 1; n = n % 2 ? 3 * n + 1 : n / 2)
            steps++;
    return steps;
}

/// Returns with the lock held and something to do, or to stop.
static void await_job(void)
{
    pthread_mutex_lock(&desk.lock);
    while (!desk.full && !desk.stop) {
        if (clean || paced) {
            pthread_cond_wait(&desk.handed, &desk.lock);
        } else {
            pthread_mutex_unlock(&desk.lock);
            nanosleep(&(struct timespec){0, 4000000}, NULL);
            pthread_mutex_lock(&desk.lock);
        }
    }
}

static void *work(void *unused)
{
    for (;;) {
        await_job();
        bool stop = desk.stop;
        uint64_t job = desk.job;
        desk.full = false;
        pthread_mutex_unlock(&desk.lock);
        if (stop)
            return unused;
        uint64_t result = collatz(job, job + 2000);
        pthread_mutex_lock(&desk.lock);
        desk.result += result;
        desk.finished = true;
        pthread_cond_signal(&desk.done);
        pthread_mutex_unlock(&desk.lock);
    }
}

/// Says every 20 ms that the program is alive, and looks more often whether to stop.
static void *beat(void *unused)
{
    for (;;) {
        for (int slice = 0; slice < 10; slice++) {
            pthread_mutex_lock(&desk.lock);
            bool stop = desk.stop;
            pthread_mutex_unlock(&desk.lock);
            if (stop)
                return unused;
            nanosleep(&(struct timespec){0, 2000000}, NULL);
        }
        beats += collatz(1, 100) > 0;
    }
}

/// Something from outside: here a timer, as a network would be.
static void from_outside(int timer)
{
    uint64_t times;
    if (read(timer, &times, sizeof times) != sizeof times)
        perror("read");
}

int main(int argc, char **argv)
{
    clean = argc > 2 && !strcmp(argv[2], "clean");
    paced = argc > 2 && !strcmp(argv[2], "paced");
    uint64_t rounds = scaled(300, argc, argv), sum = 0;
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec every = {{0, 5000000}, {0, 5000000}};
    if (timer < 0 || timerfd_settime(timer, 0, &every, NULL)) {
        perror("timerfd");
        return 1;
    }
    pthread_t worker, other;
    if (pthread_create(&worker, NULL, work, NULL) || (clean && pthread_create(&other, NULL, beat, NULL))) {
        fprintf(stderr, "cannot start a thread\n");
        return 1;
    }
    for (uint64_t round = 0; round < rounds; round++) {
        sum += collatz(round * 1000 + 1, round * 1000 + 1000);
        // Now and then it takes longer, and the other one looks in vain.
        for (int event = round % 4 ? !clean : -2; event < 1; event++)
            from_outside(timer);
        if (paced)
            nanosleep(&(struct timespec){0, 4000000}, NULL);
        pthread_mutex_lock(&desk.lock);
        desk.job = round * 500 + 1;
        desk.full = true;
        desk.finished = false;
        pthread_cond_signal(&desk.handed);
        while (!desk.finished)
            pthread_cond_wait(&desk.done, &desk.lock);
        sum += desk.result;
        pthread_mutex_unlock(&desk.lock);
    }
    pthread_mutex_lock(&desk.lock);
    desk.stop = true;
    pthread_cond_signal(&desk.handed);
    pthread_mutex_unlock(&desk.lock);
    pthread_join(worker, NULL);
    if (clean)
        pthread_join(other, NULL);
    printf("%llu\n", (unsigned long long)sum);
}
