/* Checks the inputs of a run of blocks against a store of unspent outputs. The store is a set of sorted, immutable tables (each with data
   blocks, an index of the blocks and a Bloom filter), which are opened through a cache of tables. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TABLE_MAGIC 0x8db1e5u
#define MAX_KEY 32
#define MAX_OPEN_FILES 1000        /* tables kept open at a time */

typedef struct { uint32_t index_off, index_size, bloom_off, bloom_size, blocks, magic; } Footer;
typedef struct { char last_key[MAX_KEY]; uint32_t offset, size; } IndexEntry;

typedef struct Table {
    int number;
    const uint8_t *base;
    size_t size;
    IndexEntry *index;
    uint32_t blocks;
    uint8_t *bloom;
    uint32_t bloom_size;
    struct Table *newer, *older;  /* order of use */
} Table;

typedef struct { char file[32], first[MAX_KEY], last[MAX_KEY]; } TableMeta;

typedef struct {
    char dir[200];
    TableMeta *metas;
    int count;
    Table **open;                 /* by number */
    Table head;                   /* ring of the open tables, newest first */
    int open_count, capacity;
    uint32_t crc[256];
    long bloom_negative, block_reads;
} Store;

static void die(const char *what) { fprintf(stderr, "tableget: %s: %s\n", what, strerror(errno)); exit(1); }

static void *must_alloc(size_t n) { void *p = malloc(n ? n : 1); if (!p) die("malloc"); return p; }

static void crc_init(uint32_t *table) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
}

static uint32_t crc32_of(const Store *s, const uint8_t *p, size_t n) {
    uint32_t c = ~0u;
    while (n--) c = s->crc[(c ^ *p++) & 255] ^ (c >> 8);
    return ~c;
}

/* ---- tables ---- */

static uint32_t get32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static uint16_t get16(const uint8_t *p) { uint16_t v; memcpy(&v, p, 2); return v; }

static void index_load(Table *t, const Footer *f) {
    char key[MAX_KEY] = "";
    const uint8_t *p = t->base + f->index_off, *end = p + f->index_size;
    t->blocks = f->blocks;
    t->index = must_alloc(f->blocks * sizeof *t->index);
    for (uint32_t i = 0; i < f->blocks && p < end; i++) {
        unsigned shared = p[0], rest = p[1];
        memcpy(key + shared, p + 2, rest);
        key[shared + rest] = 0;
        p += 2 + rest;
        memcpy(t->index[i].last_key, key, MAX_KEY);
        t->index[i].offset = get32(p);
        t->index[i].size = get32(p + 4);
        p += 8;
    }
}

static void bloom_load(Table *t, const Footer *f) {
    t->bloom_size = f->bloom_size;
    t->bloom = must_alloc(f->bloom_size);
    memcpy(t->bloom, t->base + f->bloom_off, f->bloom_size);
}

static Table *table_open(const Store *s, int number) {
    char path[300];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", s->dir, s->metas[number].file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) die(path);
    if (fstat(fd, &st) < 0) die("fstat");
    Table *t = must_alloc(sizeof *t);
    t->number = number;
    t->size = (size_t)st.st_size;
    t->base = mmap(NULL, t->size, PROT_READ, MAP_SHARED, fd, 0);
    if (t->base == MAP_FAILED) die("mmap");
    close(fd);
    Footer f;
    memcpy(&f, t->base + t->size - sizeof f, sizeof f);
    if (f.magic != TABLE_MAGIC) { fprintf(stderr, "%s is no table\n", path); exit(1); }
    index_load(t, &f);
    bloom_load(t, &f);
    return t;
}

static void table_close(Table *t) {
    munmap((void *)t->base, t->size);
    free(t->index);
    free(t->bloom);
    free(t);
}

static int bloom_may_contain(const Store *s, const Table *t, const char *key) {
    uint32_t h = crc32_of(s, (const uint8_t *)key, strlen(key)), d = h >> 17 | h << 15;
    for (int i = 0; i < 6; i++, h += d) {
        uint32_t bit = h % (t->bloom_size * 8);
        if (!(t->bloom[bit >> 3] >> (bit & 7) & 1)) return 0;
    }
    return 1;
}

static const IndexEntry *index_seek(const Table *t, const char *key) {
    uint32_t lo = 0, hi = t->blocks;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (strcmp(t->index[mid].last_key, key) < 0) lo = mid + 1; else hi = mid;
    }
    return lo < t->blocks ? &t->index[lo] : NULL;
}

static int block_find(Store *s, const Table *t, const IndexEntry *e, const char *key, char *value, size_t room) {
    const uint8_t *p = t->base + e->offset, *end = p + e->size;
    size_t want = strlen(key);
    if (crc32_of(s, p, e->size) != get32(end)) { fprintf(stderr, "bad block in table %d\n", t->number); exit(1); }
    s->block_reads++;
    while (p < end) {
        unsigned kl = get16(p), vl = get16(p + 2);
        if (kl == want && !memcmp(p + 4, key, kl)) {
            size_t n = vl < room - 1 ? vl : room - 1;
            memcpy(value, p + 4 + kl, n);
            value[n] = 0;
            return 1;
        }
        p += 4 + kl + vl;
    }
    return 0;
}

/* ---- the cache of open tables ---- */

static void lru_unlink(Table *t) { t->newer->older = t->older; t->older->newer = t->newer; }

static void lru_push(Store *s, Table *t) {
    t->older = s->head.older;
    t->newer = &s->head;
    s->head.older->newer = t;
    s->head.older = t;
}

static void cache_evict(Store *s) {
    Table *victim = s->head.newer;
    lru_unlink(victim);
    s->open[victim->number] = NULL;
    s->open_count--;
    table_close(victim);
}

static Table *cache_get(Store *s, int number) {
    Table *t = s->open[number];
    if (t) {
        lru_unlink(t);
    } else {
        if (s->open_count >= s->capacity) cache_evict(s);
        t = s->open[number] = table_open(s, number);
        s->open_count++;
    }
    lru_push(s, t);
    return t;
}

/* ---- the store ---- */

static void store_open(Store *s, const char *dir) {
    memset(s, 0, sizeof *s);
    snprintf(s->dir, sizeof s->dir, "%s", dir);
    s->capacity = MAX_OPEN_FILES;
    crc_init(s->crc);
    char path[300];
    snprintf(path, sizeof path, "%s/MANIFEST", dir);
    FILE *f = fopen(path, "r");
    if (!f) die(path);
    TableMeta m;
    while (fscanf(f, "%31s %31s %31s", m.file, m.first, m.last) == 3) {
        if (s->count % 64 == 0) s->metas = realloc(s->metas, (s->count + 64) * sizeof *s->metas);
        s->metas[s->count++] = m;
    }
    fclose(f);
    s->open = calloc(s->count, sizeof *s->open);
    s->head.newer = s->head.older = &s->head;
}

static void store_close(Store *s) {
    while (s->open_count) cache_evict(s);
    free(s->open);
    free(s->metas);
}

static int store_table_for(const Store *s, const char *key) {
    int lo = 0, hi = s->count;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (strcmp(s->metas[mid].last, key) < 0) lo = mid + 1; else hi = mid;
    }
    return lo < s->count && strcmp(s->metas[lo].first, key) <= 0 ? lo : -1;
}

static int store_get(Store *s, const char *key, char *value, size_t room) {
    int number = store_table_for(s, key);
    if (number < 0) return 0;
    Table *t = cache_get(s, number);
    if (!bloom_may_contain(s, t, key)) { s->bloom_negative++; return 0; }
    const IndexEntry *e = index_seek(t, key);
    return e ? block_find(s, t, e, key, value, room) : 0;
}

/* ---- checking blocks ---- */

typedef struct { long inputs, missing; unsigned long long amount; long kinds[4]; uint64_t digest; } Totals;

static int script_kind(const char *p) {
    if (!strncmp(p, "p2pkh", 5)) return 0;
    if (!strncmp(p, "p2sh", 4)) return 1;
    return strncmp(p, "p2wpkh", 6) ? 3 : 2;
}

static uint64_t digest_input(uint64_t digest, const char *key, const char *value) {
    for (int round = 0; round < 12; round++)
        for (const char *p = round & 1 ? value : key; *p; p++) digest = (digest ^ (uint8_t)*p) * 0x100000001b3ull;
    return digest ^ digest >> 31;
}

static void connect_input(Store *s, const char *key, Totals *totals) {
    char value[256];
    totals->inputs++;
    if (!store_get(s, key, value, sizeof value)) { totals->missing++; return; }
    char *end;
    totals->amount += strtoul(value, &end, 10);
    strtoul(end + 1, &end, 10);
    totals->kinds[script_kind(end + 1)]++;
    totals->digest = digest_input(totals->digest, key, value);
}

int main(int argc, char **argv) {
    Store store;
    Totals totals = {0};
    char line[128];
    long blocks = 0;
    store_open(&store, argc > 1 ? argv[1] : "data/db");
    FILE *f = fopen(argc > 2 ? argv[2] : "data/blocks.txt", "r");
    if (!f) die("blocks");
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "in ", 3)) connect_input(&store, line + 3, &totals);
        else if (++blocks % 500 == 0) printf("block %ld: %ld inputs, %ld missing, digest %016llx\n", blocks, totals.inputs, totals.missing, (unsigned long long)totals.digest);
    }
    fclose(f);
    printf("%ld blocks, amount %llu, kinds %ld %ld %ld %ld\n", blocks, totals.amount, totals.kinds[0], totals.kinds[1], totals.kinds[2], totals.kinds[3]);
    printf("%ld filtered, %ld block reads, digest %016llx\n", store.bloom_negative, store.block_reads, (unsigned long long)totals.digest);
    store_close(&store);
    return 0;
}
