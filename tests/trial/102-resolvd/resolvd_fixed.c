/* Looks up the hosts of a list of deliveries through a set of name servers and groups the deliveries by network.
   The servers run as a child process on the loopback address, one of the configured ones is out of order. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_SERVERS 4
#define TIMEOUT_MS 25
#define TRIES 8
#define CACHE_SLOTS 1024

typedef struct {
    struct sockaddr_in addr;
    int failures;             /* in a row */
    unsigned long sent, answered;
} Server;

typedef struct {
    char name[64];
    uint32_t addr;
    int ttl;
} CacheEntry;

typedef struct {
    int fd;
    Server servers[MAX_SERVERS];
    int count;
    uint16_t next_id;
    CacheEntry cache[CACHE_SLOTS];
    unsigned long lookups, hits;
} Resolver;

static uint32_t hash_name(const char *s)
{
    uint32_t h = 2166136261u;
    for (; *s; s++) h = (h ^ (uint8_t)*s) * 16777619u;
    return h;
}

/* ---- wire format ---- */

static int put_name(uint8_t *out, const char *name)
{
    int n = 0;
    while (*name) {
        const char *dot = strchr(name, '.');
        int len = dot ? (int)(dot - name) : (int)strlen(name);
        out[n++] = (uint8_t)len;
        memcpy(out + n, name, len);
        n += len;
        name += len + (dot != NULL);
    }
    out[n++] = 0;
    return n;
}

static int get_name(const uint8_t *msg, int size, int at, char *name)
{
    int n = 0;
    while (at < size && msg[at]) {
        int len = msg[at++];
        if (at + len > size || n + len + 1 >= 64) return -1;
        memcpy(name + n, msg + at, len);
        n += len;
        at += len;
        name[n++] = '.';
    }
    name[n ? n - 1 : 0] = 0;
    return at + 1;
}

static int build_query(uint8_t *msg, uint16_t id, const char *name)
{
    memset(msg, 0, 12);
    msg[0] = id >> 8;
    msg[1] = id & 255;
    msg[2] = 1;
    msg[5] = 1;
    int n = 12 + put_name(msg + 12, name);
    memcpy(msg + n, "\0\1\0\1", 4);
    return n + 4;
}

static int parse_answer(const uint8_t *msg, int size, uint16_t id, const char *want, uint32_t *addr, int *ttl)
{
    char name[64];
    if (size < 12 || (msg[0] << 8 | msg[1]) != id || !(msg[2] & 0x80)) return -1;
    int at = get_name(msg, size, 12, name);
    if (at < 0 || strcmp(name, want) || at + 4 + 16 > size) return -1;
    at += 4 + 2 + 4;                          /* question, then pointer, type and class */
    *ttl = msg[at] << 24 | msg[at + 1] << 16 | msg[at + 2] << 8 | msg[at + 3];
    at += 6;
    memcpy(addr, msg + at, 4);
    return 0;
}

/* ---- the servers ---- */

static int bind_loopback(struct sockaddr_in *a)
{
    socklen_t len = sizeof *a;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    memset(a, 0, sizeof *a);
    a->sin_family = AF_INET;
    a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)a, sizeof *a) < 0) { perror("bind"); exit(1); }
    getsockname(fd, (struct sockaddr *)a, &len);
    return fd;
}

static void serve_zone(int fd)
{
    uint8_t msg[512];
    for (;;) {
        struct sockaddr_in from;
        socklen_t flen = sizeof from;
        char name[64];
        int n = (int)recvfrom(fd, msg, sizeof msg - 16, 0, (struct sockaddr *)&from, &flen);
        if (n < 12 || get_name(msg, n, 12, name) < 0) continue;
        uint32_t h = hash_name(name), ttl = htonl(60 + h % 3600);
        uint32_t ip = htonl(10u << 24 | (h % 12) << 16 | (h >> 8 & 0xffff));
        msg[2] |= 0x80;
        msg[7] = 1;
        memcpy(msg + n, "\xc0\x0c\0\1\0\1", 6);
        memcpy(msg + n + 6, &ttl, 4);
        memcpy(msg + n + 10, "\0\4", 2);
        memcpy(msg + n + 12, &ip, 4);
        sendto(fd, msg, n + 16, 0, (struct sockaddr *)&from, flen);
    }
}

/* ---- resolver ---- */

static Server *pick_server(Resolver *r, int attempt)
{
    Server *order[MAX_SERVERS];
    (void)attempt;
    for (int i = 0; i < r->count; i++) {
        int j = i;
        for (; j > 0 && order[j - 1]->failures > r->servers[i].failures; j--) order[j] = order[j - 1];
        order[j] = &r->servers[i];
    }
    return order[0];
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

static int wait_answer(Resolver *r, uint16_t id, const char *name, uint32_t *addr, int *ttl)
{
    uint8_t msg[512];
    int64_t until = now_ms() + TIMEOUT_MS;
    for (;;) {
        int64_t left = until - now_ms();
        struct pollfd p = { r->fd, POLLIN, 0 };
        if (left <= 0 || poll(&p, 1, (int)left) <= 0) return -1;
        int n = (int)recv(r->fd, msg, sizeof msg, 0);
        if (n > 0 && parse_answer(msg, n, id, name, addr, ttl) == 0) return 0;
    }
}

static int query_server(Resolver *r, Server *s, const char *name, uint32_t *addr, int *ttl)
{
    uint8_t msg[512];
    uint16_t id = r->next_id++;
    int n = build_query(msg, id, name);
    s->sent++;
    if (sendto(r->fd, msg, n, 0, (struct sockaddr *)&s->addr, sizeof s->addr) < 0) return -1;
    return wait_answer(r, id, name, addr, ttl);
}

static int resolve(Resolver *r, const char *name, uint32_t *addr, int *ttl)
{
    for (int attempt = 0; attempt < TRIES; attempt++) {
        Server *s = pick_server(r, attempt);
        if (query_server(r, s, name, addr, ttl) == 0) {
            s->answered++;
            s->failures = 0;
            return 0;
        }
        s->failures++;
    }
    return -1;
}

static int lookup(Resolver *r, const char *name, uint32_t *addr)
{
    uint32_t slot = hash_name(name) % CACHE_SLOTS;
    r->lookups++;
    while (r->cache[slot].name[0]) {
        if (!strcmp(r->cache[slot].name, name)) {
            r->hits++;
            *addr = r->cache[slot].addr;
            return 0;
        }
        slot = (slot + 1) % CACHE_SLOTS;
    }
    CacheEntry *e = &r->cache[slot];
    if (resolve(r, name, addr, &e->ttl) < 0) return -1;
    snprintf(e->name, sizeof e->name, "%s", name);
    e->addr = *addr;
    return 0;
}

int main(void)
{
    static Resolver r;
    struct sockaddr_in a;
    char line[128], name[64];
    int port, failed = 0, mute = bind_loopback(&a);
    unsigned long networks[256] = { 0 }, tls = 0;
    r.servers[r.count++].addr = a;
    int fd = bind_loopback(&a);
    r.servers[r.count++].addr = a;
    pid_t child = fork();
    if (child == 0) serve_zone(fd);
    r.fd = socket(AF_INET, SOCK_DGRAM, 0);
    r.next_id = 0x1200;
    FILE *f = fopen("data/hosts.txt", "r");
    if (!f || r.fd < 0) { perror("hosts"); return 1; }
    while (fgets(line, sizeof line, f)) {
        uint32_t addr;
        if (sscanf(line, "%63s %d", name, &port) != 2) continue;
        if (lookup(&r, name, &addr) < 0) { failed++; continue; }
        networks[ntohl(addr) >> 16 & 255]++;
        tls += port == 443 || port == 993;
    }
    fclose(f);
    kill(child, SIGTERM);
    waitpid(child, NULL, 0);
    close(mute);
    for (int i = 0; i < 256; i++)
        if (networks[i]) printf("10.%d.0.0/16 %lu\n", i, networks[i]);
    printf("lookups %lu, from cache %lu, failed %d, tls %lu\n", r.lookups, r.hits, failed, tls);
    return 0;
}
