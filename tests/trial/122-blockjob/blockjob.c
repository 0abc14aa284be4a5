/* Runs the requests of a guest against a layered disk image. Each request is a coroutine: it yields to the event
   loop whenever it has to wait for a layer, and the loop resumes it when its turn comes. Prints what was read. */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define STACK_SIZE 32768
#define SLOTS 64              /* requests in flight */
#define REQUESTS 240000
#define CLUSTERS 65536
#define CLUSTER_WORDS 16
#define LAYERS 4

typedef struct Coroutine Coroutine;
typedef void Entry(void *opaque);

struct Coroutine {
    ucontext_t env;
    char *stack;
    Entry *entry;
    void *opaque;
    Coroutine *caller;
    int done, started;
};

typedef struct {
    uint32_t map[CLUSTERS];       /* cluster in this layer or 0 */
    uint64_t reads;
} Layer;

typedef struct {
    uint32_t first, count;
    int write;
    uint64_t sum;
    int state;                    /* 0 free, 1 running */
    Coroutine *co;
} Request;

typedef struct {
    Layer layers[LAYERS];
    uint64_t *data;
    uint32_t next_cluster;
    Request slots[SLOTS];
    uint32_t submitted, finished;
    uint64_t total, polls, seed;
} Disk;

static Coroutine leader, *current = &leader;
static Disk disk;

/* ---- coroutines ---- */

static void __attribute__((noinline)) coroutine_switch(Coroutine *from, Coroutine *to)
{
    current = to;
    swapcontext(&from->env, &to->env);
}

static void coroutine_trampoline(unsigned lo, unsigned hi)
{
    Coroutine *co = (Coroutine *)((uintptr_t)lo | (uintptr_t)hi << 32);
    for (;;) {
        co->entry(co->opaque);
        co->done = 1;
        coroutine_switch(co, co->caller);
    }
}

static Coroutine *coroutine_new(Entry *entry, void *opaque)
{
    Coroutine *co = calloc(1, sizeof *co);
    co->stack = malloc(STACK_SIZE);
    co->entry = entry;
    co->opaque = opaque;
    getcontext(&co->env);
    co->env.uc_stack.ss_sp = co->stack;
    co->env.uc_stack.ss_size = STACK_SIZE;
    co->env.uc_link = NULL;
    makecontext(&co->env, (void (*)(void))coroutine_trampoline, 2, (unsigned)(uintptr_t)co, (unsigned)((uintptr_t)co >> 32));
    return co;
}

static void coroutine_reuse(Coroutine *co, Entry *entry, void *opaque)
{
    co->entry = entry;
    co->opaque = opaque;
    co->done = 0;
}

static void coroutine_enter(Coroutine *co)
{
    co->caller = current;
    coroutine_switch(current, co);
}

static void coroutine_yield(void)
{
    Coroutine *self = current, *to = self->caller;
    self->caller = NULL;
    coroutine_switch(self, to);
}

/* ---- the image ---- */

static uint32_t draw(uint32_t limit)
{
    disk.seed = disk.seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(disk.seed >> 33) % limit;
}

static void image_create(void)
{
    disk.seed = 2024;
    disk.data = calloc((size_t)CLUSTERS * LAYERS * CLUSTER_WORDS, sizeof *disk.data);
    disk.next_cluster = 1;
    for (int l = LAYERS - 1; l >= 0; l--) {
        uint32_t filled = l == LAYERS - 1 ? CLUSTERS : CLUSTERS / 8;
        for (uint32_t i = 0; i < filled; i++) {
            uint32_t guest = l == LAYERS - 1 ? i : draw(CLUSTERS);
            if (disk.layers[l].map[guest] || disk.next_cluster >= CLUSTERS * LAYERS - 60000) continue;
            uint32_t c = disk.next_cluster++;
            disk.layers[l].map[guest] = c;
            for (int w = 0; w < CLUSTER_WORDS; w++) disk.data[(size_t)c * CLUSTER_WORDS + w] = (uint64_t)guest * 977 + l * 31 + w;
        }
    }
}

static uint32_t layer_lookup(int l, uint32_t guest)
{
    disk.layers[l].reads++;
    return disk.layers[l].map[guest];
}

static uint64_t cluster_sum(uint32_t c)
{
    uint64_t h = 17;
    for (int w = 0; w < CLUSTER_WORDS; w++) h = (h ^ disk.data[(size_t)c * CLUSTER_WORDS + w]) * 0x9e3779b97f4a7c15ull;
    return h;
}

static uint64_t read_cluster(uint32_t guest)
{
    for (int l = 0; l < LAYERS; l++) {
        uint32_t c = layer_lookup(l, guest);
        coroutine_yield();
        if (c) return cluster_sum(c);
    }
    return 0;
}

static uint64_t write_cluster(uint32_t guest, uint64_t value)
{
    uint32_t c = layer_lookup(0, guest);
    coroutine_yield();
    if (!c) {
        if (disk.next_cluster >= CLUSTERS * LAYERS) return 0;
        c = disk.next_cluster++;
        disk.layers[0].map[guest] = c;
    }
    for (int w = 0; w < CLUSTER_WORDS; w++) disk.data[(size_t)c * CLUSTER_WORDS + w] = value + w;
    return value;
}

/* ---- requests ---- */

static void request_entry(void *opaque)
{
    Request *r = opaque;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t guest = (r->first + i) % CLUSTERS;
        if (r->write && i % 4 == 0) r->sum += write_cluster(guest, r->first * 31ull + i);
        else r->sum += read_cluster(guest);
    }
}

static void request_submit(Request *r)
{
    r->first = draw(CLUSTERS);
    r->count = 4 + draw(12);
    r->write = draw(10) == 0;
    r->sum = 0;
    r->state = 1;
    if (r->co) coroutine_reuse(r->co, request_entry, r);
    else r->co = coroutine_new(request_entry, r);
    disk.submitted++;
}

static void request_complete(Request *r)
{
    disk.total = disk.total * 31 + r->sum;
    disk.finished++;
    r->state = 0;
}

static void poll_requests(void)
{
    disk.polls++;
    for (int i = 0; i < SLOTS; i++) {
        Request *r = &disk.slots[i];
        if (!r->state) {
            if (disk.submitted == REQUESTS) continue;
            request_submit(r);
        }
        coroutine_enter(r->co);
        if (r->co->done) request_complete(r);
    }
}

int main(void)
{
    image_create();
    while (disk.finished < REQUESTS) poll_requests();
    for (int l = 0; l < LAYERS; l++) printf("layer %d: %llu lookups\n", l, (unsigned long long)disk.layers[l].reads);
    printf("requests %u, rounds %llu, clusters %u, sum %016llx\n", disk.finished, (unsigned long long)disk.polls,
           disk.next_cluster, (unsigned long long)disk.total);
    return 0;
}
