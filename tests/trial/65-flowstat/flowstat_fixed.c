/* flowstat: sums up network flows by source address, one table per file, merges the tables and prints the busiest hosts. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILL 0.9

struct host {
    uint32_t address;
    uint32_t flows;
    uint64_t bytes;
    uint32_t ports[4];
};

struct table {
    struct host *slots;
    uint32_t mask;
    uint32_t used, limit;
    uint32_t seed;
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static uint32_t hash_address(uint32_t h, uint32_t seed)
{
    h ^= seed;
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

/* each table has its own order, as tables are filled from tables */
static uint32_t next_seed;

static void table_init(struct table *t, uint32_t size)
{
    t->slots = calloc(size, sizeof *t->slots);
    if (!t->slots)
        die("calloc");
    t->mask = size - 1;
    t->used = 0;
    t->seed = next_seed += 0x9e3779b9u;
    t->limit = (uint32_t)(size * FILL);
}

static struct host *table_slot(const struct table *t, uint32_t address)
{
    uint32_t i = hash_address(address, t->seed) & t->mask;
    while (t->slots[i].flows && t->slots[i].address != address)
        i = (i + 1) & t->mask;
    return &t->slots[i];
}

static void table_grow(struct table *t)
{
    struct table bigger;
    table_init(&bigger, (t->mask + 1) * 2);
    for (uint32_t i = 0; i <= t->mask; i++)
        if (t->slots[i].flows)
            *table_slot(&bigger, t->slots[i].address) = t->slots[i];
    bigger.used = t->used;
    free(t->slots);
    *t = bigger;
}

static struct host *table_get(struct table *t, uint32_t address)
{
    struct host *h = table_slot(t, address);
    if (h->flows)
        return h;
    if (t->used >= t->limit) {
        table_grow(t);
        h = table_slot(t, address);
    }
    h->address = address;
    t->used++;
    return h;
}

static unsigned port_class(unsigned port)
{
    return port == 53 ? 0 : port == 80 || port == 443 ? 1 : port < 1024 ? 2 : 3;
}

static int parse_flow(const char *p, uint32_t *address, unsigned *port, unsigned long *bytes)
{
    char *end;
    *address = 0;
    for (int i = 0; i < 4; i++) {
        unsigned long v = strtoul(p, &end, 10);
        if (end == p || v > 255 || *end != (i < 3 ? '.' : ','))
            return -1;
        *address = *address << 8 | (uint32_t)v;
        p = end + 1;
    }
    *port = (unsigned)strtoul(p, &end, 10);
    if (*end != ',')
        return -1;
    *bytes = strtoul(end + 1, NULL, 10);
    return 0;
}

static unsigned read_flows(const char *path, struct table *t)
{
    FILE *f = fopen(path, "r");
    char line[256];
    unsigned bad = 0;
    if (!f)
        die(path);
    while (fgets(line, sizeof line, f)) {
        uint32_t address;
        unsigned port;
        unsigned long bytes;
        if (parse_flow(line, &address, &port, &bytes)) {
            bad++;
            continue;
        }
        struct host *h = table_get(t, address);
        h->flows++;
        h->bytes += bytes;
        h->ports[port_class(port)]++;
    }
    fclose(f);
    return bad;
}

static void table_merge(struct table *into, const struct table *from)
{
    for (uint32_t i = 0; i <= from->mask; i++) {
        const struct host *h = &from->slots[i];
        if (!h->flows)
            continue;
        struct host *sum = table_get(into, h->address);
        sum->flows += h->flows;
        sum->bytes += h->bytes;
        for (int k = 0; k < 4; k++)
            sum->ports[k] += h->ports[k];
    }
}

static int by_bytes(const void *a, const void *b)
{
    const struct host *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->address < y->address ? -1 : x->address > y->address;
}

static void report(const struct table *t)
{
    struct host *all = malloc(t->used * sizeof *all);
    uint32_t n = 0, sum = 0;
    uint64_t bytes = 0, ports[4] = { 0 };
    if (!all)
        die("malloc");
    for (uint32_t i = 0; i <= t->mask; i++)
        if (t->slots[i].flows)
            all[n++] = t->slots[i];
    qsort(all, n, sizeof *all, by_bytes);
    for (uint32_t i = 0; i < n; i++) {
        bytes += all[i].bytes;
        sum = sum * 31 + all[i].address + all[i].flows;
        for (int k = 0; k < 4; k++)
            ports[k] += all[i].ports[k];
    }
    printf("%u hosts, %llu bytes, checksum %08x\n", n, (unsigned long long)bytes, sum);
    printf("dns %llu, web %llu, low %llu, other %llu\n", (unsigned long long)ports[0], (unsigned long long)ports[1],
           (unsigned long long)ports[2], (unsigned long long)ports[3]);
    for (uint32_t i = 0; i < n && i < 8; i++)
        printf("%3u.%u.%u.%u %u flows, %llu bytes\n", all[i].address >> 24, all[i].address >> 16 & 255, all[i].address >> 8 & 255,
               all[i].address & 255, all[i].flows, (unsigned long long)all[i].bytes);
    free(all);
}

int main(int argc, char **argv)
{
    struct table total;
    unsigned bad = 0, files = argc > 1 ? (unsigned)atoi(argv[1]) : 3;
    table_init(&total, 1024);
    for (unsigned i = 0; i < files; i++) {
        struct table t;
        char path[64];
        snprintf(path, sizeof path, "data/flows.%u.csv", i);
        table_init(&t, 1024);
        bad += read_flows(path, &t);
        printf("%s: %u hosts\n", path, t.used);
        table_merge(&total, &t);
        free(t.slots);
    }
    printf("%u lines not understood\n", bad);
    report(&total);
    return 0;
}
