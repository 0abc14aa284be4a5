/* thumbstore: worker threads serve thumbnails out of a table of known pictures; what a table entry points to is kept on a
 * slow volume, which a child process stands for. The table is guarded by a reader/writer lock. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 8
#define PICTURES 4096
#define REQUESTS 560
#define BLOB 512

struct picture {
    uint32_t id;
    uint32_t blob;
    uint32_t flags;
};

struct store {
    pthread_rwlock_t lock;
    struct picture table[PICTURES];
    size_t count;
    uint64_t generation;
};

struct worker {
    pthread_t thread;
    struct store *store;
    int volume; /* connection to the volume */
    unsigned nr;
    uint64_t sum, bytes;
    unsigned served, missing, rotated;
};

static void must(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static void xfer(int fd, void *buf, size_t n, int out)
{
    char *p = buf;
    while (n) {
        ssize_t k = out ? write(fd, p, n) : read(fd, p, n);
        if (k <= 0)
            _exit(0);
        p += k;
        n -= (size_t)k;
    }
}

/* the volume: each block takes a seek */
static void volume_main(int fd)
{
    uint32_t nr;
    unsigned char block[BLOB];
    struct timespec seek = {0, 2500000};
    for (;;) {
        xfer(fd, &nr, sizeof nr, 0);
        nanosleep(&seek, NULL);
        for (size_t i = 0; i < sizeof block; i++)
            block[i] = (unsigned char)((nr * 2654435761u >> 16) + i * 7);
        xfer(fd, block, sizeof block, 1);
    }
}

static void volume_read(int fd, uint32_t blob, unsigned char *out)
{
    xfer(fd, &blob, sizeof blob, 1);
    xfer(fd, out, BLOB, 0);
}

static void store_init(struct store *s)
{
    must(pthread_rwlock_init(&s->lock, NULL) == 0, "rwlock");
    s->count = 0;
    uint32_t x = 12345;
    for (uint32_t i = 0; i < PICTURES; i++) {
        x = x * 1664525u + 1013904223u;
        s->table[s->count++] = (struct picture){i * 3, x >> 12, x >> 30};
    }
    s->generation = 1;
}

static const struct picture *store_find(const struct store *s, uint32_t id)
{
    size_t lo = 0, hi = s->count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (s->table[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->count && s->table[lo].id == id ? &s->table[lo] : NULL;
}

static void rotate(unsigned char *img)
{
    unsigned char tmp[BLOB];
    for (int i = 0; i < BLOB; i++)
        tmp[i] = img[BLOB - 1 - i];
    memcpy(img, tmp, BLOB);
}

/* fetches the thumbnail for id; 0 if there is none */
static int store_fetch(struct store *s, int volume, uint32_t id, unsigned char *img, uint32_t *flags)
{
    int found = 0;
    pthread_rwlock_rdlock(&s->lock);
    const struct picture *p = store_find(s, id);
    if (p) {
        *flags = p->flags;
        volume_read(volume, p->blob, img);
        found = 1;
    }
    pthread_rwlock_unlock(&s->lock);
    return found;
}

static void *serve(void *arg)
{
    struct worker *w = arg;
    unsigned char img[BLOB];
    for (uint32_t r = w->nr; r < REQUESTS; r += WORKERS) {
        uint32_t id = (r * 7919u) % (PICTURES * 3 + 100), flags = 0;
        if (r % 8)
            id -= id % 3;
        if (!store_fetch(w->store, w->volume, id, img, &flags)) {
            w->missing++;
            continue;
        }
        if (flags & 1) {
            rotate(img);
            w->rotated++;
        }
        uint32_t h = 2166136261u;
        for (int i = 0; i < BLOB; i++)
            h = (h ^ img[i]) * 16777619u;
        w->sum += h;
        w->bytes += BLOB;
        w->served++;
    }
    return NULL;
}

int main(void)
{
    static struct store store;
    struct worker w[WORKERS] = {0};
    pid_t kids[WORKERS];
    store_init(&store);
    for (unsigned i = 0; i < WORKERS; i++) {
        int sv[2];
        must(socketpair(AF_UNIX, SOCK_STREAM, 0, sv) == 0, "socketpair");
        kids[i] = fork();
        must(kids[i] >= 0, "fork");
        if (kids[i] == 0) {
            close(sv[0]);
            for (unsigned k = 0; k < i; k++)
                close(w[k].volume);
            volume_main(sv[1]);
        }
        close(sv[1]);
        w[i].volume = sv[0];
        w[i].store = &store;
        w[i].nr = i;
    }
    for (unsigned i = 0; i < WORKERS; i++)
        must(pthread_create(&w[i].thread, NULL, serve, &w[i]) == 0, "thread");
    unsigned served = 0, missing = 0, rotated = 0;
    uint64_t sum = 0, bytes = 0;
    for (unsigned i = 0; i < WORKERS; i++) {
        pthread_join(w[i].thread, NULL);
        served += w[i].served;
        missing += w[i].missing;
        rotated += w[i].rotated;
        sum += w[i].sum;
        bytes += w[i].bytes;
        close(w[i].volume);
    }
    for (unsigned i = 0; i < WORKERS; i++)
        waitpid(kids[i], NULL, 0);
    printf("served %u, missing %u, rotated %u, %llu bytes, sum %016llx, generation %llu\n", served, missing, rotated,
           (unsigned long long)bytes, (unsigned long long)sum, (unsigned long long)store.generation);
    return 0;
}
