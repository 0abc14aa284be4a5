/* A small relation store with a shared buffer pool. Runs the sessions of an import job: each transaction creates
   staging relations, fills them page by page, folds them into a permanent relation and drops them at its commit. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NBUFFERS 131072
#define NBUCKETS 262144
#define PAGE_WORDS 64
#define TRANSACTIONS 110
#define STAGING 64             /* relations in each transaction */
#define NONE UINT32_MAX

typedef struct {
    uint32_t db, rel;
} RelNode;

typedef struct {
    RelNode node;
    uint32_t fork, block;
} BufferTag;

typedef struct {
    BufferTag tag;
    uint32_t state;           /* valid, dirty */
    uint32_t usage;
    uint32_t next;            /* in the bucket or in the list of free buffers */
    uint32_t pad[9];
} BufferDesc;

enum { BM_VALID = 1, BM_DIRTY = 2 };

typedef struct {
    BufferDesc *desc;
    uint32_t *pages;
    uint32_t *buckets;
    uint32_t free_list, hand;
    uint64_t hits, misses, written, dropped;
} Pool;

typedef struct {
    RelNode *nodes;
    int count, room;
} PendingDeletes;

typedef struct {
    Pool pool;
    PendingDeletes pending;
    uint32_t next_rel;
    RelNode total_rel;
    uint32_t total_blocks;
    uint64_t seed, rows;
} Store;

static void *need(void *p)
{
    if (!p) { fprintf(stderr, "relstore: out of memory\n"); exit(1); }
    return p;
}

static int same_node(RelNode a, RelNode b)
{
    return a.db == b.db && a.rel == b.rel;
}

static int same_tag(const BufferTag *a, const BufferTag *b)
{
    return same_node(a->node, b->node) && a->fork == b->fork && a->block == b->block;
}

static uint32_t tag_hash(const BufferTag *t)
{
    uint64_t h = ((uint64_t)t->node.rel << 32 | t->block) * 0x9e3779b97f4a7c15ull;
    h ^= (uint64_t)(t->node.db * 31 + t->fork) * 0xc2b2ae3d27d4eb4full;
    h ^= h >> 29;
    return (uint32_t)(h % NBUCKETS);
}

/* ---- buffer pool ---- */

static void pool_init(Pool *p)
{
    memset(p, 0, sizeof *p);
    p->desc = need(calloc(NBUFFERS, sizeof *p->desc));
    p->pages = need(calloc((size_t)NBUFFERS * PAGE_WORDS, sizeof *p->pages));
    p->buckets = need(malloc(NBUCKETS * sizeof *p->buckets));
    for (uint32_t i = 0; i < NBUCKETS; i++) p->buckets[i] = NONE;
    for (uint32_t i = 0; i < NBUFFERS; i++) p->desc[i].next = i + 1 < NBUFFERS ? i + 1 : NONE;
    p->free_list = 0;
}

static void unlink_bucket(Pool *p, uint32_t buf)
{
    uint32_t *at = &p->buckets[tag_hash(&p->desc[buf].tag)];
    while (*at != buf) at = &p->desc[*at].next;
    *at = p->desc[buf].next;
}

static void invalidate_buffer(Pool *p, uint32_t buf)
{
    BufferDesc *d = &p->desc[buf];
    unlink_bucket(p, buf);
    memset(&d->tag, 0, sizeof d->tag);
    d->state = 0;
    d->usage = 0;
    d->next = p->free_list;
    p->free_list = buf;
    p->dropped++;
}

static uint32_t take_victim(Pool *p)
{
    if (p->free_list != NONE) {
        uint32_t buf = p->free_list;
        p->free_list = p->desc[buf].next;
        return buf;
    }
    for (;;) {
        uint32_t buf = p->hand++ % NBUFFERS;
        BufferDesc *d = &p->desc[buf];
        if (d->usage) { d->usage--; continue; }
        if (d->state & BM_DIRTY) p->written++;
        unlink_bucket(p, buf);
        return buf;
    }
}

static uint32_t *read_buffer(Pool *p, RelNode node, uint32_t block, int dirty)
{
    BufferTag tag = { node, 0, block };
    uint32_t h = tag_hash(&tag), buf;
    for (buf = p->buckets[h]; buf != NONE; buf = p->desc[buf].next)
        if (same_tag(&p->desc[buf].tag, &tag)) break;
    if (buf != NONE) {
        p->hits++;
    } else {
        buf = take_victim(p);
        BufferDesc *d = &p->desc[buf];
        p->misses++;
        d->tag = tag;
        d->state = BM_VALID;
        d->next = p->buckets[h];
        p->buckets[h] = buf;
        memset(&p->pages[(size_t)buf * PAGE_WORDS], 0, PAGE_WORDS * sizeof(uint32_t));
    }
    BufferDesc *d = &p->desc[buf];
    if (d->usage < 3) d->usage++;
    if (dirty) d->state |= BM_DIRTY;
    return &p->pages[(size_t)buf * PAGE_WORDS];
}

static void drop_rel_buffers(Pool *p, RelNode node)
{
    for (uint32_t i = 0; i < NBUFFERS; i++) {
        BufferDesc *d = &p->desc[i];
        if ((d->state & BM_VALID) && same_node(d->tag.node, node)) invalidate_buffer(p, i);
    }
}

/* ---- relations ---- */

static RelNode rel_create(Store *s)
{
    RelNode n = { 5, s->next_rel++ };
    return n;
}

static void rel_drop_at_commit(Store *s, RelNode node)
{
    PendingDeletes *d = &s->pending;
    if (d->count == d->room) {
        d->room = d->room ? 2 * d->room : 16;
        d->nodes = need(realloc(d->nodes, d->room * sizeof *d->nodes));
    }
    d->nodes[d->count++] = node;
}

static void do_pending_deletes(Store *s)
{
    PendingDeletes *d = &s->pending;
    for (int i = 0; i < d->count; i++) drop_rel_buffers(&s->pool, d->nodes[i]);
    d->count = 0;
}

static uint32_t next_value(Store *s)
{
    s->seed ^= s->seed << 13;
    s->seed ^= s->seed >> 7;
    s->seed ^= s->seed << 17;
    return (uint32_t)(s->seed >> 20);
}

static void fill_staging(Store *s, RelNode node, uint32_t blocks)
{
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t *page = read_buffer(&s->pool, node, b, 1);
        uint32_t rows = 20 + next_value(s) % (PAGE_WORDS - 21);
        page[0] = rows;
        for (uint32_t r = 1; r <= rows; r++) page[r] = next_value(s) % 1000;
        s->rows += rows;
    }
}

static void fold_into_total(Store *s, RelNode node, uint32_t blocks)
{
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t sums[PAGE_WORDS] = { 0 };
        const uint32_t *page = read_buffer(&s->pool, node, b, 0);
        for (uint32_t r = 1; r <= page[0]; r++) sums[page[r] % PAGE_WORDS] += page[r];
        uint32_t *total = read_buffer(&s->pool, s->total_rel, next_value(s) % s->total_blocks, 1);
        for (int i = 0; i < PAGE_WORDS; i++) total[i] += sums[i];
    }
}

static void run_transaction(Store *s, int number)
{
    RelNode staging[STAGING];
    uint32_t blocks[STAGING];
    for (int i = 0; i < STAGING; i++) {
        staging[i] = rel_create(s);
        blocks[i] = 20 + (uint32_t)(number * 7 + i * 13) % 60;
        fill_staging(s, staging[i], blocks[i]);
    }
    for (int i = 0; i < STAGING; i++) fold_into_total(s, staging[i], blocks[i]);
    for (int i = 0; i < STAGING; i++) rel_drop_at_commit(s, staging[i]);
    do_pending_deletes(s);
}

static uint64_t sum_total(Store *s)
{
    uint64_t h = 1469598103934665603ull;
    for (uint32_t b = 0; b < s->total_blocks; b++) {
        const uint32_t *page = read_buffer(&s->pool, s->total_rel, b, 0);
        for (int i = 0; i < PAGE_WORDS; i++) h = (h ^ page[i]) * 1099511628211ull;
    }
    return h;
}

int main(void)
{
    static Store s;
    pool_init(&s.pool);
    s.next_rel = 16384;
    s.seed = 88172645463325252ull;
    s.total_rel = rel_create(&s);
    s.total_blocks = 90000;
    for (uint32_t b = 0; b < s.total_blocks; b++) read_buffer(&s.pool, s.total_rel, b, 1);
    for (int t = 0; t < TRANSACTIONS; t++) run_transaction(&s, t);
    uint64_t sum = sum_total(&s);
    printf("transactions %d, relations %u, rows %llu\n", TRANSACTIONS, s.next_rel - 16384, (unsigned long long)s.rows);
    printf("hits %llu, misses %llu, written %llu, dropped %llu\n", (unsigned long long)s.pool.hits,
           (unsigned long long)s.pool.misses, (unsigned long long)s.pool.written, (unsigned long long)s.pool.dropped);
    printf("totals %016llx\n", (unsigned long long)sum);
    return 0;
}
