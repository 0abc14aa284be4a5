/* catalog - load the shop catalogue of a game and index it by price band. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BANDS 12

struct item {
    char key[32];
    long price;
    double weight;
    uint32_t hash;
    int band;
};

struct catalog {
    struct item *items;
    size_t count, cap;
};

struct cursor {
    const char *p;
    int failed;
};

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    size_t cap = 1 << 16, n = 0, got;
    char *buf = malloc(cap + 1);
    while ((got = fread(buf + n, 1, cap - n, f)) > 0) {
        n += got;
        if (n == cap) {
            cap *= 2;
            buf = realloc(buf, cap + 1);
        }
    }
    fclose(f);
    buf[n] = '\0';
    return buf;
}

static void skip_ws(struct cursor *c)
{
    while (isspace((unsigned char)*c->p))
        c->p++;
}

static int accept(struct cursor *c, char ch)
{
    skip_ws(c);
    if (*c->p != ch)
        return 0;
    c->p++;
    return 1;
}

static void parse_string(struct cursor *c, char *out, size_t cap)
{
    size_t n = 0;
    if (!accept(c, '"')) {
        c->failed = 1;
        return;
    }
    while (*c->p && *c->p != '"') {
        if (n + 1 < cap)
            out[n++] = *c->p;
        c->p++;
    }
    out[n] = '\0';
    if (*c->p)
        c->p++;
}

static double parse_number(struct cursor *c)
{
    double v = 0;
    int used = 0;
    skip_ws(c);
    if (sscanf(c->p, "%lf%n", &v, &used) != 1)
        c->failed = 1;
    c->p += used;
    return v;
}

static uint32_t hash_key(const char *s)
{
    uint32_t h = 0;
    for (; *s; s++) {
        h += (unsigned char)*s;
        h += h << 10;
        h ^= h >> 6;
    }
    h += h << 3;
    h ^= h >> 11;
    return h + (h << 15);
}

static void parse_field(struct cursor *c, struct item *it)
{
    char name[32];
    parse_string(c, name, sizeof name);
    if (!accept(c, ':'))
        c->failed = 1;
    if (!strcmp(name, "key"))
        parse_string(c, it->key, sizeof it->key);
    else if (!strcmp(name, "price"))
        it->price = (long)parse_number(c);
    else if (!strcmp(name, "weight"))
        it->weight = parse_number(c);
    else
        c->failed = 1;
}

static int parse_item(struct cursor *c, struct item *it)
{
    memset(it, 0, sizeof *it);
    if (!accept(c, '{'))
        return 0;
    do
        parse_field(c, it);
    while (!c->failed && accept(c, ','));
    it->hash = hash_key(it->key);
    return !c->failed && accept(c, '}');
}

static void load_catalog(const char *text, struct catalog *cat)
{
    struct cursor c = { text, 0 };
    struct item it;
    if (!accept(&c, '['))
        return;
    while (parse_item(&c, &it)) {
        if (cat->count == cat->cap) {
            cat->cap = cat->cap ? cat->cap * 2 : 64;
            cat->items = realloc(cat->items, cat->cap * sizeof it);
        }
        cat->items[cat->count++] = it;
        if (!accept(&c, ','))
            break;
    }
    if (c.failed)
        fprintf(stderr, "catalog: parse error near offset %ld\n", (long)(c.p - text));
}

static int by_hash(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return x->hash < y->hash ? -1 : x->hash > y->hash ? 1 : strcmp(x->key, y->key);
}

static void assign_bands(struct catalog *cat, long counts[BANDS], double weights[BANDS])
{
    for (size_t i = 0; i < cat->count; i++) {
        struct item *it = &cat->items[i];
        long limit = 100;
        while (it->band < BANDS - 1 && it->price > limit) {
            it->band++;
            limit *= 2;
        }
        counts[it->band]++;
        weights[it->band] += it->weight;
    }
}

static double simulate_loot(const struct catalog *cat, long draws)
{
    double *prefix = malloc(cat->count * sizeof *prefix), sum = 0, value = 0;
    for (size_t i = 0; i < cat->count; i++)
        prefix[i] = sum += 1.0 / (1.0 + cat->items[i].price);
    uint64_t rng = 88172645463325252ull;
    for (long d = 0; d < draws; d++) {
        rng ^= rng << 13;
        rng ^= rng >> 7;
        rng ^= rng << 17;
        double want = (double)(rng >> 11) / 9007199254740992.0 * sum;
        size_t lo = 0, hi = cat->count - 1;
        while (lo < hi) {
            size_t mid = (lo + hi) / 2;
            if (prefix[mid] < want)
                lo = mid + 1;
            else
                hi = mid;
        }
        value += cat->items[lo].price;
    }
    free(prefix);
    return value / draws;
}

int main(int argc, char **argv)
{
    struct catalog cat = { 0 };
    long counts[BANDS] = { 0 };
    double weights[BANDS] = { 0 };
    char *text = read_text(argc > 1 ? argv[1] : "data/catalog.json");
    load_catalog(text, &cat);
    qsort(cat.items, cat.count, sizeof *cat.items, by_hash);
    assign_bands(&cat, counts, weights);
    size_t dup = 0;
    for (size_t i = 1; i < cat.count; i++)
        dup += cat.items[i].hash == cat.items[i - 1].hash;
    for (int b = 0; b < BANDS; b++)
        printf("band %2d: %6ld items %12.3f kg\n", b, counts[b], weights[b]);
    printf("mean loot value %.3f\n", simulate_loot(&cat, 2500000));
    printf("%zu items, %zu hash duplicates\n", cat.count, dup);
    free(cat.items);
    free(text);
    return 0;
}
