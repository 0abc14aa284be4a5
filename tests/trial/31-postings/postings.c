/* postings: builds an inverted index with positions over a text corpus and answers a few queries. */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 8192

struct posting {
    uint32_t doc;
    uint32_t pos;
};

struct term {
    char *text;
    uint32_t hash;
    struct posting *list;
    size_t count;
    uint32_t last_doc;
    uint32_t doc_freq;
    struct term *next;
};

struct index {
    struct term *buckets[BUCKETS];
    size_t terms;
    uint32_t docs;
    uint64_t tokens;
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static uint32_t hash_text(const char *s, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h;
}

static struct term *term_find(struct index *ix, const char *s, size_t n, int create)
{
    uint32_t h = hash_text(s, n);
    struct term *t;
    for (t = ix->buckets[h % BUCKETS]; t; t = t->next)
        if (t->hash == h && strlen(t->text) == n && !memcmp(t->text, s, n))
            return t;
    if (!create)
        return NULL;
    t = calloc(1, sizeof *t);
    if (!t)
        die("calloc");
    t->text = strndup(s, n);
    t->hash = h;
    t->last_doc = UINT32_MAX;
    t->next = ix->buckets[h % BUCKETS];
    ix->buckets[h % BUCKETS] = t;
    ix->terms++;
    return t;
}

static void postings_add(struct term *t, uint32_t doc, uint32_t pos)
{
    struct posting *grown = realloc(t->list, (t->count + 1) * sizeof *grown);
    if (!grown)
        die("realloc");
    t->list = grown;
    t->list[t->count].doc = doc;
    t->list[t->count].pos = pos;
    t->count++;
    if (t->last_doc != doc) {
        t->last_doc = doc;
        t->doc_freq++;
    }
}

static void index_line(struct index *ix, char *line, uint32_t doc, uint32_t *pos)
{
    char *p = line;
    while (*p) {
        while (*p && !isalpha((unsigned char)*p))
            p++;
        char *start = p;
        while (isalpha((unsigned char)*p)) {
            *p = (char)tolower((unsigned char)*p);
            p++;
        }
        if (p > start) {
            struct term *t = term_find(ix, start, (size_t)(p - start), 1);
            postings_add(t, doc, (*pos)++);
            ix->tokens++;
        }
    }
}

static void index_file(struct index *ix, const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f)
        die(path);
    char *line = NULL;
    size_t cap = 0;
    uint32_t doc = 0, pos = 0;
    while (getline(&line, &cap, f) > 0) {
        if (!strncmp(line, "#DOC ", 5)) {
            doc = (uint32_t)strtoul(line + 5, NULL, 10);
            pos = 0;
            ix->docs++;
            continue;
        }
        index_line(ix, line, doc, &pos);
    }
    free(line);
    fclose(f);
}

/* number of places where b follows a directly */
static size_t phrase_count(const struct term *a, const struct term *b)
{
    size_t i = 0, j = 0, n = 0;
    while (i < a->count && j < b->count) {
        uint64_t x = ((uint64_t)a->list[i].doc << 32) + a->list[i].pos + 1;
        uint64_t y = ((uint64_t)b->list[j].doc << 32) + b->list[j].pos;
        if (x == y) {
            n++, i++, j++;
        } else if (x < y) {
            i++;
        } else {
            j++;
        }
    }
    return n;
}

static int by_freq(const void *a, const void *b)
{
    const struct term *x = *(struct term *const *)a, *y = *(struct term *const *)b;
    if (x->doc_freq != y->doc_freq)
        return x->doc_freq < y->doc_freq ? 1 : -1;
    return strcmp(x->text, y->text);
}

int main(int argc, char **argv)
{
    static struct index ix;
    index_file(&ix, argc > 1 ? argv[1] : "data/corpus.txt");
    struct term **all = malloc(ix.terms * sizeof *all);
    size_t n = 0;
    uint64_t sum = 0;
    for (int b = 0; b < BUCKETS; b++)
        for (struct term *t = ix.buckets[b]; t; t = t->next)
            all[n++] = t;
    qsort(all, n, sizeof *all, by_freq);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < all[i]->count; k++)
            sum = sum * 31 + all[i]->list[k].doc + all[i]->list[k].pos;
    printf("documents %u, terms %zu, tokens %llu\n", ix.docs, ix.terms, (unsigned long long)ix.tokens);
    for (int i = 0; i < 5; i++)
        printf("%-10s in %u documents, %zu times\n", all[i]->text, all[i]->doc_freq, all[i]->count);
    size_t phrases = 0;
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 20; j++)
            phrases += phrase_count(all[i], all[j]);
    printf("phrases %zu, checksum %016llx\n", phrases, (unsigned long long)sum);
    return 0;
}
