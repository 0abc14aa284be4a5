/*
 * strtab - aggregate an access log.  Every string is interned so that the
 * statistics can be keyed by pointer.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct istr {
    struct istr *next;
    uint32_t hash;
    uint32_t len;
    uint64_t hits, bytes;
    char text[];
} istr;

typedef struct {
    istr **bucket;
    uint32_t size, count;
} strtab;

typedef struct {
    strtab names;
    istr **order;
    uint32_t norder, corder;
    uint64_t lines, errors;
} stats;

static uint32_t hash_text(const char *s, uint32_t len)
{
    uint32_t h = len ^ 0x5bd1e995u;
    uint32_t step = (len >> 5) + 1;

    for (uint32_t i = len; i >= step; i -= step)
        h ^= (h << 5) + (h >> 2) + (unsigned char)s[i - 1];
    return h;
}

static void strtab_init(strtab *t, uint32_t size)
{
    t->bucket = calloc(size, sizeof *t->bucket);
    t->size = size;
    t->count = 0;
}

static void strtab_resize(strtab *t, uint32_t size)
{
    istr **nb = calloc(size, sizeof *nb);

    for (uint32_t i = 0; i < t->size; i++) {
        istr *s = t->bucket[i];
        while (s) {
            istr *next = s->next;
            s->next = nb[s->hash & (size - 1)];
            nb[s->hash & (size - 1)] = s;
            s = next;
        }
    }
    free(t->bucket);
    t->bucket = nb;
    t->size = size;
}

static istr *new_string(strtab *t, const char *s, uint32_t len, uint32_t h)
{
    istr *p = malloc(sizeof *p + len + 1);

    memcpy(p->text, s, len);
    p->text[len] = '\0';
    p->len = len;
    p->hash = h;
    p->hits = p->bytes = 0;
    if (t->count >= t->size)
        strtab_resize(t, t->size * 2);
    p->next = t->bucket[h & (t->size - 1)];
    t->bucket[h & (t->size - 1)] = p;
    t->count++;
    return p;
}

static istr *intern(strtab *t, const char *s, uint32_t len, int *created)
{
    uint32_t h = hash_text(s, len);

    for (istr *p = t->bucket[h & (t->size - 1)]; p; p = p->next) {
        if (p->len == len && memcmp(p->text, s, len) == 0) {
            *created = 0;
            return p;
        }
    }
    *created = 1;
    return new_string(t, s, len, h);
}

static istr *account(stats *st, const char *s, uint32_t len, uint64_t bytes)
{
    int created;
    istr *p = intern(&st->names, s, len, &created);

    if (created) {
        if (st->norder == st->corder) {
            st->corder = st->corder ? st->corder * 2 : 256;
            st->order = realloc(st->order, st->corder * sizeof *st->order);
        }
        st->order[st->norder++] = p;
    }
    p->hits++;
    p->bytes += bytes;
    return p;
}

/* client method url status bytes "agent" */
static int parse_line(stats *st, const char *line)
{
    const char *field[5], *p = line;
    uint32_t flen[5];

    for (int i = 0; i < 5; i++) {
        const char *e = strchr(p, ' ');
        if (!e)
            return -1;
        field[i] = p;
        flen[i] = (uint32_t)(e - p);
        p = e + 1;
    }
    if (*p != '"')
        return -1;
    const char *q = strchr(p + 1, '"');
    if (!q)
        return -1;
    uint64_t bytes = strtoull(field[4], NULL, 10);
    account(st, field[0], flen[0], bytes);
    account(st, field[1], flen[1], bytes);
    account(st, field[2], flen[2], bytes);
    account(st, p + 1, (uint32_t)(q - p - 1), bytes);
    if (field[3][0] == '5')
        st->errors++;
    st->lines++;
    return 0;
}

static uint64_t seed = 2012;

static uint32_t rnd(uint32_t n)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33) % n;
}

static void make_line(char *out)
{
    static const char *const method[] = { "GET", "GET", "GET", "POST", "HEAD" };
    static const char *const agent[] = {
        "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/11.0",
        "Mozilla/5.0 (Windows NT 6.1) AppleWebKit/535.19 Chrome/18.0",
        "curl/7.25.0 (x86_64-pc-linux-gnu) libcurl/7.25.0",
    };
    uint32_t doc = rnd(6000);

    sprintf(out,
            "10.%u.0.%u %s /archive/customers/region-west/project-%02u/documents/%05u/revisions/latest/"
            "attachments/original/preview-large-rendering.html?format=full&lang=en-GB&theme=default %u %u \"%s\"",
            rnd(4), rnd(200), method[rnd(5)], doc % 2, doc * 4, rnd(50) ? 200 : 503, 500 + rnd(90000),
            agent[rnd(3)]);
}

static int by_hits(const void *a, const void *b)
{
    const istr *x = *(istr *const *)a, *y = *(istr *const *)b;

    if (x->hits != y->hits)
        return x->hits < y->hits ? 1 : -1;
    return strcmp(x->text, y->text);
}

int main(int argc, char **argv)
{
    int lines = argc > 1 ? atoi(argv[1]) : 320000;
    stats st = { 0 };
    char line[512];
    uint64_t digest = 14695981039346656037ull;

    strtab_init(&st.names, 256);
    for (int i = 0; i < lines; i++) {
        make_line(line);
        if (parse_line(&st, line))
            fprintf(stderr, "line %d: malformed\n", i);
    }
    qsort(st.order, st.norder, sizeof *st.order, by_hits);
    for (uint32_t i = 0; i < st.norder; i++)
        digest = (digest ^ st.order[i]->hits ^ st.order[i]->bytes) * 1099511628211ull;
    printf("%llu lines, %u distinct strings, %llu errors, digest %016llx\n", (unsigned long long)st.lines,
           st.norder, (unsigned long long)st.errors, (unsigned long long)digest);
    for (uint32_t i = 0; i < 3; i++)
        printf("%8llu %s\n", (unsigned long long)st.order[i]->hits, st.order[i]->text);
    return 0;
}
