/* fetchneg - the client's side of a fetch negotiation: reads the local and the
 * advertised refs, finds which tips are complete, and emits the "have" lines. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NCOMMITS 160000
#define NREFS 26000
#define COMPLETE 1u
#define SEEN 2u
#define COMMON 4u

struct commit {
    uint64_t oid;
    uint32_t date;
    uint32_t flags;
    struct commit *parent[2];
    struct commit *next_hash;
};

struct commit_list {
    struct commit *item;
    struct commit_list *next;
};

struct ref {
    char name[48];
    uint64_t oid;
};

static struct commit *commits;
static struct commit **buckets;
static size_t nbuckets;
static struct ref *local_refs, *remote_refs;
static struct commit_list *complete;
static uint64_t seed = 0x9e3779b97f4a7c15ULL;

static uint64_t rnd(void)
{
    uint64_t z = (seed += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static void *xmalloc(size_t n)
{
    void *p = malloc(n);
    if (!p) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

static void hash_commit(struct commit *c)
{
    size_t b = c->oid & (nbuckets - 1);
    c->next_hash = buckets[b];
    buckets[b] = c;
}

static struct commit *lookup_commit(uint64_t oid)
{
    struct commit *c = buckets[oid & (nbuckets - 1)];
    while (c && c->oid != oid)
        c = c->next_hash;
    return c;
}

static void make_history(void)
{
    nbuckets = 1u << 18;
    buckets = calloc(nbuckets, sizeof *buckets);
    commits = calloc(NCOMMITS, sizeof *commits);
    for (size_t i = 0; i < NCOMMITS; i++) {
        struct commit *c = &commits[i];
        c->oid = rnd();
        c->date = 1200000000u + (uint32_t)i * 1500u + (uint32_t)(rnd() % 90000);
        if (i) {
            size_t back = 1 + rnd() % (i < 40 ? i : 40);
            c->parent[0] = &commits[i - back];
            if (rnd() % 6 == 0)
                c->parent[1] = &commits[i - 1 - rnd() % (i < 400 ? i : 400)];
        }
        hash_commit(c);
    }
}

static void make_refs(void)
{
    static const char *kind[] = { "heads", "tags", "pull", "changes" };
    local_refs = xmalloc(NREFS * sizeof *local_refs);
    remote_refs = xmalloc(NREFS * sizeof *remote_refs);
    for (int i = 0; i < NREFS; i++) {
        const char *k = kind[rnd() % 4];
        size_t at = rnd() % NCOMMITS;
        snprintf(local_refs[i].name, sizeof local_refs[i].name, "refs/%s/%05d", k, i);
        local_refs[i].oid = commits[at].oid;
        remote_refs[i] = local_refs[i];
        if (rnd() % 3 == 0) {
            size_t ahead = at + rnd() % 2000;
            remote_refs[i].oid = ahead < NCOMMITS ? commits[ahead].oid : rnd();
        }
    }
}

static struct commit_list *list_insert_by_date(struct commit *item, struct commit_list **list)
{
    struct commit_list **pp = list, *p;
    while ((p = *pp) != NULL) {
        if (p->item->date < item->date)
            break;
        pp = &p->next;
    }
    p = xmalloc(sizeof *p);
    p->item = item;
    p->next = *pp;
    *pp = p;
    return p;
}

static struct commit *pop_commit(struct commit_list **list)
{
    struct commit_list *top = *list;
    struct commit *c = top->item;
    *list = top->next;
    free(top);
    return c;
}

static void mark_complete(const struct ref *ref)
{
    struct commit *c = lookup_commit(ref->oid);
    if (c && !(c->flags & COMPLETE)) {
        c->flags |= COMPLETE;
        list_insert_by_date(c, &complete);
    }
}

static void pop_most_recent(struct commit_list **list, uint32_t mark)
{
    struct commit *c = pop_commit(list);
    for (int k = 0; k < 2; k++) {
        struct commit *p = c->parent[k];
        if (p && !(p->flags & mark)) {
            p->flags |= mark;
            list_insert_by_date(p, list);
        }
    }
}

static void mark_recent_complete(uint32_t cutoff)
{
    while (complete && cutoff <= complete->item->date)
        pop_most_recent(&complete, COMPLETE);
}

static int everything_local(uint32_t *wanted)
{
    uint32_t cutoff = 0;
    for (int i = 0; i < NREFS; i++) {
        struct commit *c = lookup_commit(remote_refs[i].oid);
        if (c && c->date > cutoff)
            cutoff = c->date;
    }
    for (int i = 0; i < NREFS; i++)
        mark_complete(&local_refs[i]);
    mark_recent_complete(cutoff - 9000000u);
    int missing = 0;
    for (int i = 0; i < NREFS; i++) {
        struct commit *c = lookup_commit(remote_refs[i].oid);
        if (!c || !(c->flags & COMPLETE)) {
            missing++;
            *wanted = *wanted * 31u + (uint32_t)remote_refs[i].oid;
        }
    }
    return missing == 0;
}

static uint32_t emit_haves(int limit)
{
    uint32_t sum = 5381;
    int n = 0;
    for (struct commit_list *l = complete; l && n < limit; l = l->next, n++) {
        char line[64];
        int len = snprintf(line, sizeof line, "have %016llx\n", (unsigned long long)l->item->oid);
        for (int i = 0; i < len; i++)
            sum = sum * 33u + (unsigned char)line[i];
    }
    return sum;
}

static size_t count_reachable(void)
{
    struct commit **stack = xmalloc(NCOMMITS * sizeof *stack);
    size_t top = 0, n = 0;
    for (int i = 0; i < NREFS; i++) {
        struct commit *c = lookup_commit(local_refs[i].oid);
        if (c && !(c->flags & SEEN)) {
            c->flags |= SEEN;
            stack[top++] = c;
        }
        while (top) {
            struct commit *s = stack[--top];
            n++;
            for (int k = 0; k < 2; k++)
                if (s->parent[k] && !(s->parent[k]->flags & SEEN)) {
                    s->parent[k]->flags |= SEEN;
                    stack[top++] = s->parent[k];
                }
        }
    }
    free(stack);
    return n;
}

int main(void)
{
    uint32_t wanted = 7;
    make_history();
    make_refs();
    int local = everything_local(&wanted);
    printf("up to date: %s\n", local ? "yes" : "no");
    printf("wanted: %08x\n", wanted);
    printf("haves: %08x\n", emit_haves(256));
    printf("reachable: %zu\n", count_reachable());
    return 0;
}
