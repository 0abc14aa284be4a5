/* Joins the orders of some years with the customers: both tables are split by the hash of the key into parts whose hash table fits in the
   cache, each part is built and probed, and the joined rows are summed by region and month. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUSTOMERS 3000000u
#define ORDERS 10000000u         /* of a year */
#define YEARS 6
#define BITS 8
#define PARTS (1u << BITS)
#define REGIONS 12
#define MONTHS 24

typedef struct {
    uint32_t key, value;
} Row;

typedef struct {
    Row *rows, *spare;
    size_t count, start[PARTS + 1];
} Table;

typedef struct {
    uint32_t *heads, *next;
    size_t mask, rooms;
} Index;

typedef struct {
    uint64_t count[REGIONS][MONTHS], amount[REGIONS][MONTHS];
    uint64_t unmatched;
} Result;

static void *need(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "ordersjoin: out of memory\n");
        exit(1);
    }
    return p;
}

static inline uint32_t hash_key(uint32_t k)
{
    k ^= k >> 16;
    k *= 0x85ebca6bu;
    k ^= k >> 13;
    return k * 0xc2b2ae35u;
}

static uint64_t state = 88172645463325252ull;

static inline uint32_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 24);
}

static void table_init(Table *t, size_t count)
{
    t->count = count;
    t->rows = need(count * sizeof *t->rows);
    t->spare = need(count * sizeof *t->spare);
}

static void load_customers(Table *t)
{
    for (uint32_t i = 0; i < CUSTOMERS; i++) {
        t->rows[i].key = i * 7 + 3;
        t->rows[i].value = draw() % REGIONS;
    }
}

static void load_orders(Table *t)
{
    for (uint32_t i = 0; i < ORDERS; i++) {
        t->rows[i].key = draw() % (CUSTOMERS + 40000) * 7 + 3;
        t->rows[i].value = draw() % MONTHS << 24 | (draw() & 0xffff);
    }
}

/* Two passes: count, then move the rows to their parts by way of small buffers of a cache line for each part. */
static void partition(Table *t)
{
    static Row lines[PARTS][8] __attribute__((aligned(64)));
    static uint8_t fill[PARTS];
    size_t at[PARTS], counts[PARTS] = { 0 };
    Row *out = t->spare;
    for (size_t i = 0; i < t->count; i++) counts[hash_key(t->rows[i].key) >> (32 - BITS)]++;
    t->start[0] = 0;
    for (uint32_t p = 0; p < PARTS; p++) {
        at[p] = t->start[p];
        t->start[p + 1] = t->start[p] + counts[p];
        fill[p] = 0;
    }
    for (size_t i = 0; i < t->count; i++) {
        uint32_t p = hash_key(t->rows[i].key) >> (32 - BITS);
        lines[p][fill[p]++] = t->rows[i];
        if (fill[p] < 8) continue;
        memcpy(out + at[p], lines[p], sizeof lines[p]);
        at[p] += 8;
        fill[p] = 0;
    }
    for (uint32_t p = 0; p < PARTS; p++) memcpy(out + at[p], lines[p], fill[p] * sizeof(Row));
    t->spare = t->rows;
    t->rows = out;
}

static void index_build(Index *x, const Row *rows, size_t count)
{
    size_t size = 256;
    while (size < count) size *= 2;
    if (size > x->rooms) {
        free(x->heads);
        free(x->next);
        x->rooms = size;
        x->heads = need(size * sizeof *x->heads);
        x->next = need(size * sizeof *x->next);
    }
    x->mask = size - 1;
    memset(x->heads, 0xff, size * sizeof *x->heads);
    for (size_t i = 0; i < count; i++) {
        uint32_t h = hash_key(rows[i].key) & x->mask;
        x->next[i] = x->heads[h];
        x->heads[h] = (uint32_t)i;
    }
}

static void probe(const Index *x, const Row *build, const Row *rows, size_t count, Result *r)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t at = x->heads[hash_key(rows[i].key) & x->mask];
        while (at != UINT32_MAX && build[at].key != rows[i].key) at = x->next[at];
        if (at == UINT32_MAX) { r->unmatched++; continue; }
        uint32_t region = build[at].value, month = rows[i].value >> 24;
        r->count[region][month]++;
        r->amount[region][month] += rows[i].value & 0xffffff;
    }
}

static void join(Index *x, const Table *customers, const Table *orders, Result *r)
{
    for (uint32_t p = 0; p < PARTS; p++) {
        const Row *build = customers->rows + customers->start[p];
        index_build(x, build, customers->start[p + 1] - customers->start[p]);
        probe(x, build, orders->rows + orders->start[p], orders->start[p + 1] - orders->start[p], r);
    }
}

int main(void)
{
    static Table customers, orders;
    static Result r;
    static Index x;
    table_init(&customers, CUSTOMERS);
    table_init(&orders, ORDERS);
    load_customers(&customers);
    partition(&customers);
    for (int year = 0; year < YEARS; year++) {
        load_orders(&orders);
        partition(&orders);
        join(&x, &customers, &orders, &r);
    }
    for (int region = 0; region < REGIONS; region += 3) {
        uint64_t n = 0, sum = 0;
        for (int m = 0; m < MONTHS; m++) {
            n += r.count[region][m];
            sum += r.amount[region][m];
        }
        printf("region %d: %llu orders, %llu\n", region, (unsigned long long)n, (unsigned long long)sum);
    }
    printf("unmatched %llu\n", (unsigned long long)r.unmatched);
    return 0;
}
