/* Compiled patterns by their text: a hash table and a list by last use. */
#include "rulegate.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 512

struct entry {
    char *pattern;
    pcre2_code *code;
    struct entry *next;                 /* in the bucket */
    struct entry *newer, *older;
};

static struct entry *buckets[BUCKETS], *newest, *oldest;
static size_t count, limit;

void regex_cache_init(size_t capacity)
{
    limit = capacity;
}

static unsigned hash(const char *s)
{
    unsigned h = 2166136261u;
    while (*s)
        h = (h ^ (unsigned char)*s++) * 16777619u;
    return h % BUCKETS;
}

static void list_remove(struct entry *e)
{
    if (e->newer) e->newer->older = e->older; else newest = e->older;
    if (e->older) e->older->newer = e->newer; else oldest = e->newer;
}

static void list_push(struct entry *e)
{
    e->newer = NULL;
    e->older = newest;
    if (newest) newest->newer = e; else oldest = e;
    newest = e;
}

static void evict(void)
{
    struct entry *e = oldest, **p = &buckets[hash(e->pattern)];
    while (*p != e)
        p = &(*p)->next;
    *p = e->next;
    list_remove(e);
    pcre2_code_free(e->code);
    free(e->pattern);
    free(e);
    count--;
}

static pcre2_code *compile(const char *pattern)
{
    int error;
    PCRE2_SIZE offset;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_CASELESS | PCRE2_DOTALL, &error, &offset, NULL);
    if (!code) {
        PCRE2_UCHAR message[160];
        pcre2_get_error_message(error, message, sizeof message);
        fprintf(stderr, "%s: %s at %zu\n", pattern, (char *)message, offset);
    }
    return code;
}

pcre2_code *regex_cache_get(const char *pattern)
{
    unsigned h = hash(pattern);
    for (struct entry *e = buckets[h]; e; e = e->next)
        if (!strcmp(e->pattern, pattern)) {
            list_remove(e);
            list_push(e);
            return e->code;
        }
    if (count >= limit)
        evict();
    struct entry *e = calloc(1, sizeof *e);
    e->pattern = strdup(pattern);
    e->code = compile(pattern);
    e->next = buckets[h];
    buckets[h] = e;
    list_push(e);
    count++;
    return e->code;
}

void regex_cache_free(void)
{
    while (count)
        evict();
}
