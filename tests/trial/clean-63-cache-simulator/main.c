/* cachesim: replay a memory trace (in the form of valgrind's lackey) through
 * two levels of set associative caches with LRU replacement and a TLB, and
 * print the hit statistics by kind of access and by memory region. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cache {
    const char *name;
    unsigned sets, ways, shift; /* shift: bits of the line or page offset */
    uint64_t *tags;             /* ways of a set side by side, latest use first */
    uint64_t hits, misses, evictions;
};

enum kind { INSTR, LOAD, STORE, MODIFY, KINDS };

struct counts {
    uint64_t accesses, l1_misses, l2_misses, tlb_misses;
};

struct region {
    const char *name;
    uint64_t begin, end;
    struct counts c;
};

struct machine {
    const char *name;
    struct cache i1, d1, l2, tlb;
    struct counts kinds[KINDS];
    struct region regions[6];
    unsigned nregions;
};

/* ---- a cache ------------------------------------------------------------------ */

static void cache_init(struct cache *c, const char *name, unsigned size, unsigned ways, unsigned line)
{
    memset(c, 0, sizeof *c);
    c->name = name;
    c->ways = ways;
    c->sets = size / ways / line;
    while (1u << c->shift < line)
        c->shift++;
    c->tags = malloc((size_t)c->sets * ways * sizeof *c->tags);
    if (!c->tags || (c->sets & (c->sets - 1))) {
        fprintf(stderr, "%s: bad geometry\n", name);
        exit(1);
    }
    memset(c->tags, 0xff, (size_t)c->sets * ways * sizeof *c->tags);
}

static unsigned find_way(const uint64_t *set, unsigned ways, uint64_t tag)
{
    unsigned w;
    for (w = 0; w < ways; w++)
        if (set[w] == tag)
            break;
    return w;
}

/* look up one line; it becomes the set's most recently used one */
static bool cache_touch(struct cache *c, uint64_t line)
{
    uint64_t *set = c->tags + (line & (c->sets - 1)) * c->ways;
    unsigned w = find_way(set, c->ways, line);
    bool hit = w < c->ways;
    if (hit) {
        c->hits++;
    } else {
        c->misses++;
        w = c->ways - 1;
        c->evictions += set[w] != UINT64_MAX;
    }
    memmove(set + 1, set, w * sizeof *set);
    set[0] = line;
    return hit;
}

/* ---- the machine ----------------------------------------------------------------- */

#define MACHINES 4

static struct machine machines[MACHINES];

static void machine_init(struct machine *m, const char *name, unsigned l1_kb, unsigned l1_ways, unsigned l2_kb,
                         unsigned l2_ways, unsigned tlb_entries, unsigned tlb_ways)
{
    memset(m, 0, sizeof *m);
    m->name = name;
    cache_init(&m->i1, "I1", l1_kb << 10, l1_ways, 64);
    cache_init(&m->d1, "D1", l1_kb << 10, l1_ways, 64);
    cache_init(&m->l2, "L2", l2_kb << 10, l2_ways, 64);
    cache_init(&m->tlb, "TLB", tlb_entries * 4096, tlb_ways, 4096);
}

static struct region *region_of(struct machine *m, uint64_t addr)
{
    for (unsigned i = 0; i < m->nregions; i++)
        if (addr >= m->regions[i].begin && addr < m->regions[i].end)
            return &m->regions[i];
    return NULL;
}

static void machine_access(struct machine *m, enum kind kind, uint64_t addr, unsigned size)
{
    struct cache *l1 = kind == INSTR ? &m->i1 : &m->d1;
    struct counts d = { 1, 0, 0, 0 };
    for (uint64_t line = addr >> l1->shift; line <= (addr + size - 1) >> l1->shift; line++) {
        if (cache_touch(l1, line))
            continue;
        d.l1_misses++;
        if (!cache_touch(&m->l2, line))
            d.l2_misses++;
    }
    if (kind != INSTR && !cache_touch(&m->tlb, addr >> m->tlb.shift))
        d.tlb_misses++;
    struct region *r = region_of(m, addr);
    struct counts *to[2] = { &m->kinds[kind], r ? &r->c : NULL };
    for (int i = 0; i < 2 && to[i]; i++) {
        to[i]->accesses += d.accesses;
        to[i]->l1_misses += d.l1_misses;
        to[i]->l2_misses += d.l2_misses;
        to[i]->tlb_misses += d.tlb_misses;
    }
}

/* ---- the trace ---------------------------------------------------------------------- */

static const char *parse_hex(const char *p, uint64_t *v)
{
    uint64_t x = 0;
    for (;; p++) {
        unsigned d = (unsigned char)*p;
        if (d - '0' < 10)
            x = x << 4 | (d - '0');
        else if (d - 'a' < 6)
            x = x << 4 | (d - 'a' + 10);
        else
            break;
    }
    *v = x;
    return p;
}

static bool add_region(const char *line)
{
    static char names[6][32];
    unsigned long begin, end;
    unsigned n = machines[0].nregions;
    if (n == 6 || sscanf(line, "== %31s %lx %lx", names[n], &begin, &end) != 3)
        return false;
    for (int i = 0; i < MACHINES; i++)
        machines[i].regions[machines[i].nregions++] = (struct region){ names[n], begin, end, { 0 } };
    return true;
}

/* "== name begin end" declares a region; "I  addr,size", " L addr,size",
   " S addr,size", " M addr,size" are accesses */
static bool parse_line(const char *p)
{
    uint64_t addr;
    unsigned size = 0;
    enum kind kind;
    if (p[0] == '=')
        return add_region(p);
    if (p[0] == 'I')
        kind = INSTR;
    else if (p[1] == 'L')
        kind = LOAD;
    else if (p[1] == 'S')
        kind = STORE;
    else if (p[1] == 'M')
        kind = MODIFY;
    else
        return false;
    p = parse_hex(p + 3, &addr);
    if (*p++ != ',')
        return false;
    for (; *p >= '0' && *p <= '9'; p++)
        size = size * 10 + (*p - '0');
    if (!size)
        return false;
    for (int i = 0; i < MACHINES; i++)
        machine_access(&machines[i], kind, addr, size);
    return true;
}

static int replay(const char *path)
{
    static char buf[1 << 16];
    char line[256];
    unsigned long n = 0;
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return 1;
    }
    setvbuf(f, buf, _IOFBF, sizeof buf);
    while (fgets(line, sizeof line, f)) {
        n++;
        if (!parse_line(line)) {
            fprintf(stderr, "%s:%lu: not understood\n", path, n);
            fclose(f);
            return 1;
        }
    }
    fclose(f);
    return 0;
}

/* ---- report --------------------------------------------------------------------------- */

static void print_counts(const char *name, const struct counts *c)
{
    double n = c->accesses ? c->accesses : 1;
    printf("%-8s %10lu accesses, misses L1 %8lu (%5.2f %%) L2 %8lu (%5.2f %%) TLB %8lu (%5.2f %%)\n", name,
           (unsigned long)c->accesses, (unsigned long)c->l1_misses, 100 * c->l1_misses / n,
           (unsigned long)c->l2_misses, 100 * c->l2_misses / n, (unsigned long)c->tlb_misses, 100 * c->tlb_misses / n);
}

static void print_machine(const struct machine *m)
{
    static const char *names[KINDS] = { "instr", "load", "store", "modify" };
    printf("machine %s\n", m->name);
    for (int k = 0; k < KINDS; k++)
        print_counts(names[k], &m->kinds[k]);
    for (unsigned i = 0; i < m->nregions; i++)
        print_counts(m->regions[i].name, &m->regions[i].c);
    const struct cache *all[] = { &m->i1, &m->d1, &m->l2, &m->tlb };
    for (int i = 0; i < 4; i++) {
        printf("%-4s %u sets x %u ways: %lu hits, %lu misses, %lu evictions\n", all[i]->name, all[i]->sets,
               all[i]->ways, (unsigned long)all[i]->hits, (unsigned long)all[i]->misses, (unsigned long)all[i]->evictions);
        free(all[i]->tags);
    }
}

int main(int argc, char **argv)
{
    machine_init(&machines[0], "small", 16, 4, 256, 8, 32, 4);
    machine_init(&machines[1], "desktop", 32, 8, 1024, 16, 64, 4);
    machine_init(&machines[2], "server", 64, 16, 2048, 16, 128, 8);
    machine_init(&machines[3], "low power", 32, 8, 512, 16, 32, 32);
    if (replay(argc > 1 ? argv[1] : "program.trace"))
        return 1;
    for (int i = 0; i < MACHINES; i++)
        print_machine(&machines[i]);
    return 0;
}
