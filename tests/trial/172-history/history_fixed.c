/*
 * history - walk a commit graph in date order from all branch tips and
 * summarise who changed what.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEN   1u
#define PARSED 2u

struct commit;

struct commit_list {
    struct commit *item;
    struct commit_list *next;
};

struct commit {
    uint64_t oid;
    const char *raw;
    uint64_t date;
    unsigned flags;
    int author;
    struct commit_list *parents;
};

struct repo {
    struct commit *commits;
    size_t n;
    struct commit **index;
    size_t mask;
    char *arena;
    size_t used, cap;
};

struct queue_entry {
    struct commit *item;
    uint64_t date;
    uint64_t seq;
};

struct date_queue {
    struct queue_entry *heap;
    size_t size, alloc;
    uint64_t seq;
};

static int before(const struct queue_entry *a, const struct queue_entry *b)
{
    return a->date != b->date ? a->date > b->date : a->seq < b->seq;
}

static void queue_put(struct date_queue *q, struct commit *c)
{
    struct queue_entry e = { c, c->date, q->seq++ };
    size_t i = q->size++;

    if (q->size > q->alloc) {
        q->alloc = q->size * 2;
        q->heap = realloc(q->heap, q->alloc * sizeof *q->heap);
    }
    for (; i && before(&e, &q->heap[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = e;
}

static struct commit *queue_get(struct date_queue *q)
{
    struct queue_entry last;
    struct commit *c;
    size_t i = 0, k;

    if (!q->size)
        return NULL;
    c = q->heap[0].item;
    last = q->heap[--q->size];
    while ((k = 2 * i + 1) < q->size) {
        if (k + 1 < q->size && before(&q->heap[k + 1], &q->heap[k]))
            k++;
        if (!before(&q->heap[k], &last))
            break;
        q->heap[i] = q->heap[k];
        i = k;
    }
    q->heap[i] = last;
    return c;
}

static void queue_release(struct date_queue *q)
{
    free(q->heap);
}

static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static struct commit *lookup_commit(const struct repo *r, uint64_t oid)
{
    for (size_t i = oid & r->mask; r->index[i]; i = (i + 1) & r->mask)
        if (r->index[i]->oid == oid)
            return r->index[i];
    return NULL;
}

static void index_commit(struct repo *r, struct commit *c)
{
    size_t i = c->oid & r->mask;

    while (r->index[i])
        i = (i + 1) & r->mask;
    r->index[i] = c;
}

static int parse_hex(const char *p, uint64_t *out)
{
    uint64_t v = 0;

    for (int i = 0; i < 16; i++) {
        char ch = p[i];
        if (ch >= '0' && ch <= '9')
            v = v << 4 | (uint64_t)(ch - '0');
        else if (ch >= 'a' && ch <= 'f')
            v = v << 4 | (uint64_t)(ch - 'a' + 10);
        else
            return -1;
    }
    *out = v;
    return 0;
}

static int parse_commit(struct repo *r, struct commit *c)
{
    const char *p = c->raw;
    struct commit_list **tail = &c->parents;
    uint64_t oid;

    if (c->flags & PARSED)
        return 0;
    c->flags |= PARSED;
    if (strncmp(p, "tree ", 5))
        return -1;
    p = strchr(p, '\n') + 1;
    while (!strncmp(p, "parent ", 7)) {
        struct commit_list *node = malloc(sizeof *node);
        if (parse_hex(p + 7, &oid) || !(node->item = lookup_commit(r, oid)))
            return -1;
        node->next = NULL;
        *tail = node;
        tail = &node->next;
        p = strchr(p, '\n') + 1;
    }
    if (sscanf(p, "author dev%d <", &c->author) != 1)
        return -1;
    p = strchr(p, '>');
    c->date = strtoull(p + 1, NULL, 10);
    return 0;
}

static uint64_t rng = 88172645463325252ull;

static uint32_t rnd(uint32_t n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (uint32_t)(rng >> 20) % n;
}

static void add_commit(struct repo *r, size_t i, const struct commit *p1, const struct commit *p2)
{
    struct commit *c = &r->commits[i];
    char *s = r->arena + r->used;
    int n, author = (int)rnd(200);

    c->oid = mix(i + 1);
    c->raw = s;
    n = sprintf(s, "tree %016llx\n", (unsigned long long)mix(i ^ 0xabcdef));
    if (p1)
        n += sprintf(s + n, "parent %016llx\n", (unsigned long long)p1->oid);
    if (p2)
        n += sprintf(s + n, "parent %016llx\n", (unsigned long long)p2->oid);
    n += sprintf(s + n, "author dev%d <dev%d@example.org> %llu +0000\n\nchange %zu\n", author, author,
                 1300000000ull + i * 60 + rnd(50), i);
    r->used += (size_t)n + 1;
    index_commit(r, c);
}

static size_t *make_repo(struct repo *r, size_t n, size_t branches)
{
    size_t *tip = malloc(branches * sizeof *tip), bits = 1;

    while (bits < n * 2)
        bits *= 2;
    r->n = n;
    r->commits = calloc(n, sizeof *r->commits);
    r->index = calloc(bits, sizeof *r->index);
    r->mask = bits - 1;
    r->arena = malloc(n * 200);
    r->used = 0;
    add_commit(r, 0, NULL, NULL);
    memset(tip, 0, branches * sizeof *tip);
    for (size_t i = 1; i < n; i++) {
        size_t b = rnd((uint32_t)branches), other = rnd((uint32_t)branches);
        int merge = rnd(15) == 0 && tip[b] != tip[other];
        add_commit(r, i, &r->commits[tip[b]], merge ? &r->commits[tip[other]] : NULL);
        tip[b] = i;
    }
    return tip;
}

static void walk(struct repo *r, struct date_queue *q, uint64_t *digest, size_t *shown, size_t *per_author)
{
    struct commit *c;

    while ((c = queue_get(q)) != NULL) {
        *digest = (*digest ^ c->oid) * 1099511628211ull;
        per_author[c->author]++;
        ++*shown;
        for (struct commit_list *p = c->parents; p; p = p->next) {
            if (p->item->flags & SEEN)
                continue;
            p->item->flags |= SEEN;
            if (parse_commit(r, p->item))
                exit(128);
            queue_put(q, p->item);
        }
    }
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? (size_t)atoi(argv[1]) : 300000, branches = 2800;
    struct repo r;
    size_t *tip = make_repo(&r, n, branches), shown = 0, per_author[200] = { 0 }, top = 0;
    struct date_queue q = { 0 };
    uint64_t digest = 14695981039346656037ull;

    for (size_t b = 0; b < branches; b++) {
        struct commit *c = &r.commits[tip[b]];
        if (c->flags & SEEN)
            continue;
        c->flags |= SEEN;
        if (parse_commit(&r, c))
            return 128;
        queue_put(&q, c);
    }
    walk(&r, &q, &digest, &shown, per_author);
    queue_release(&q);
    for (size_t a = 1; a < 200; a++)
        if (per_author[a] > per_author[top])
            top = a;
    printf("%zu commits shown, top author dev%zu (%zu), digest %016llx\n", shown, top, per_author[top],
           (unsigned long long)digest);
    return 0;
}
