/* rulegate: replays a log of requests against the rules and says what would have been blocked. */
#include "rulegate.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGEX_CACHE_SIZE 4096
#define BLOCK_SCORE 5

struct client { char address[48]; unsigned requests, blocked; int worst; };
struct clients { struct client *v; size_t n, cap; };

static struct client *client_get(struct clients *all, const char *address)
{
    for (size_t i = 0; i < all->n; i++)
        if (!strcmp(all->v[i].address, address))
            return &all->v[i];
    if (all->n == all->cap) {
        all->cap = all->cap ? all->cap * 2 : 64;
        all->v = realloc(all->v, all->cap * sizeof *all->v);
    }
    struct client *c = &all->v[all->n++];
    memset(c, 0, sizeof *c);
    snprintf(c->address, sizeof c->address, "%s", address);
    return c;
}

static int by_blocked(const void *a, const void *b)
{
    const struct client *x = a, *y = b;
    if (x->blocked != y->blocked)
        return x->blocked < y->blocked ? 1 : -1;
    return strcmp(x->address, y->address);
}

static int replay(const char *path, const struct rules *rules, unsigned *hits, struct clients *clients)
{
    char line[8192];
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return -1;
    }
    for (unsigned n = 1; fgets(line, sizeof line, f); n++) {
        struct request rq;
        if (request_parse(&rq, line))
            continue;
        int score = evaluate(rules, &rq, hits);
        struct client *c = client_get(clients, rq.address);
        c->requests++;
        if (score > c->worst)
            c->worst = score;
        if (score >= BLOCK_SCORE) {
            c->blocked++;
            printf("%u: %s %s %s score %d\n", n, rq.address, rq.method, rq.uri, score);
        }
    }
    fclose(f);
    return 0;
}

int main(void)
{
    struct rules rules = {0};
    struct clients clients = {0};
    regex_cache_init(REGEX_CACHE_SIZE);
    if (rules_load(&rules, "data/rules.conf"))
        return 1;
    unsigned *hits = calloc(rules.n, sizeof *hits);
    if (replay("data/requests.log", &rules, hits, &clients))
        return 1;
    for (size_t i = 0; i < rules.n; i++)
        if (hits[i])
            printf("rule %d: %u hits\n", rules.v[i].id, hits[i]);
    qsort(clients.v, clients.n, sizeof *clients.v, by_blocked);
    for (size_t i = 0; i < clients.n && i < 20; i++)
        printf("%s: %u of %u blocked, worst %d\n", clients.v[i].address, clients.v[i].blocked, clients.v[i].requests, clients.v[i].worst);
    regex_cache_free();
    rules_free(&rules);
    free(clients.v);
    free(hits);
    return 0;
}
