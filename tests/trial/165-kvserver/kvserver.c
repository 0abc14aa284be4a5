/*
 * kvserver - core of an in-memory key/value server speaking a length
 * prefixed request protocol.  The network is replaced by a generator that
 * delivers large pipelined batches.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARGS 8
#define BUCKETS  (1u << 15)

struct entry {
    struct entry *next;
    uint32_t hash;
    uint32_t klen, vlen;
    char *val;
    char key[];
};

struct db {
    struct entry *bucket[BUCKETS];
    size_t count;
};

struct client {
    char *qbuf;
    size_t qlen, qcap;
    uint64_t reply_digest;
    size_t replies;
};

struct arg {
    const char *p;
    uint32_t len;
};

static uint32_t hash_key(const char *k, uint32_t n)
{
    uint32_t h = 2166136261u;
    while (n--)
        h = (h ^ (unsigned char)*k++) * 16777619u;
    return h ^ h >> 15;
}

static struct entry **db_slot(struct db *db, const struct arg *k, uint32_t h)
{
    struct entry **e = &db->bucket[h & (BUCKETS - 1)];
    while (*e && ((*e)->hash != h || (*e)->klen != k->len || memcmp((*e)->key, k->p, k->len)))
        e = &(*e)->next;
    return e;
}

static void db_set(struct db *db, const struct arg *k, const char *v, uint32_t vlen)
{
    uint32_t h = hash_key(k->p, k->len);
    struct entry **slot = db_slot(db, k, h), *e = *slot;
    if (!e) {
        e = malloc(sizeof *e + k->len);
        e->next = NULL;
        e->hash = h;
        e->klen = k->len;
        e->val = NULL;
        memcpy(e->key, k->p, k->len);
        *slot = e;
        db->count++;
    }
    e->val = realloc(e->val, vlen + 1);
    memcpy(e->val, v, vlen);
    e->val[vlen] = '\0';
    e->vlen = vlen;
}

static int db_del(struct db *db, const struct arg *k)
{
    struct entry **slot = db_slot(db, k, hash_key(k->p, k->len)), *e = *slot;
    if (!e)
        return 0;
    *slot = e->next;
    free(e->val);
    free(e);
    db->count--;
    return 1;
}

static void reply(struct client *c, const char *p, size_t n)
{
    uint64_t h = c->reply_digest;
    while (n--)
        h = (h ^ (unsigned char)*p++) * 1099511628211ull;
    c->reply_digest = h;
    c->replies++;
}

static void reply_int(struct client *c, long long v)
{
    char tmp[32];
    reply(c, tmp, (size_t)sprintf(tmp, ":%lld\r\n", v));
}

static int is_cmd(const struct arg *a, const char *name)
{
    return a->len == strlen(name) && !memcmp(a->p, name, a->len);
}

static void execute(struct db *db, struct client *c, const struct arg *av, int ac)
{
    struct entry *e;
    if (ac == 3 && is_cmd(&av[0], "SET")) {
        db_set(db, &av[1], av[2].p, av[2].len);
        reply(c, "+OK\r\n", 5);
    } else if (ac == 2 && is_cmd(&av[0], "GET")) {
        e = *db_slot(db, &av[1], hash_key(av[1].p, av[1].len));
        if (e)
            reply(c, e->val, e->vlen);
        else
            reply(c, "$-1\r\n", 5);
    } else if (ac == 2 && is_cmd(&av[0], "INCR")) {
        char num[32];
        e = *db_slot(db, &av[1], hash_key(av[1].p, av[1].len));
        long long v = (e ? atoll(e->val) : 0) + 1;
        db_set(db, &av[1], num, (uint32_t)sprintf(num, "%lld", v));
        reply_int(c, v);
    } else if (ac == 2 && is_cmd(&av[0], "DEL")) {
        reply_int(c, db_del(db, &av[1]));
    } else {
        reply(c, "-ERR unknown command\r\n", 22);
    }
}

/* parse "<marker><number>\r\n"; returns bytes used, 0 when incomplete */
static size_t parse_count(const char *p, size_t n, char marker, uint32_t *out)
{
    uint32_t v = 0;
    size_t i = 1;
    if (n < 4 || p[0] != marker)
        return 0;
    while (i < n && p[i] >= '0' && p[i] <= '9')
        v = v * 10 + (uint32_t)(p[i++] - '0');
    if (i + 2 > n)
        return 0;
    *out = v;
    return i + 2;
}

static size_t parse_request(const char *p, size_t n, struct arg *av, int *ac)
{
    uint32_t argc, len;
    size_t used = parse_count(p, n, '*', &argc), k;
    if (!used || argc > MAX_ARGS)
        return 0;
    for (uint32_t i = 0; i < argc; i++) {
        k = parse_count(p + used, n - used, '$', &len);
        if (!k || used + k + len + 2 > n)
            return 0;
        av[i].p = p + used + k;
        av[i].len = len;
        used += k + len + 2;
    }
    *ac = (int)argc;
    return used;
}

static void consume(struct client *c, size_t n)
{
    c->qlen -= n;
    memmove(c->qbuf, c->qbuf + n, c->qlen);
}

void process_input(struct db *db, struct client *c)
{
    struct arg av[MAX_ARGS];
    size_t used;
    int ac;
    while ((used = parse_request(c->qbuf, c->qlen, av, &ac)) > 0) {
        execute(db, c, av, ac);
        consume(c, used);
    }
}

void feed(struct client *c, const char *p, size_t n)
{
    if (c->qlen + n > c->qcap) {
        c->qcap = (c->qlen + n) * 2;
        c->qbuf = realloc(c->qbuf, c->qcap);
    }
    memcpy(c->qbuf + c->qlen, p, n);
    c->qlen += n;
}

static uint32_t lcg = 5229;

static uint32_t rnd(uint32_t n)
{
    lcg = lcg * 1103515245u + 12345u;
    return (lcg >> 8) % n;
}

static size_t make_request(char *out)
{
    char key[32], val[64];
    int kl = sprintf(key, "session:%08u", rnd(40000)), vl, op = (int)rnd(10);
    if (op < 4) {
        vl = sprintf(val, "user=%u;ttl=%u;flags=%x", rnd(100000), rnd(3600), rnd(65536));
        return (size_t)sprintf(out, "*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", kl, key, vl, val);
    }
    if (op == 4)
        kl = sprintf(key, "counter:%u", rnd(100));
    const char *cmd = op == 4 ? "INCR" : op == 5 ? "DEL" : "GET";
    return (size_t)sprintf(out, "*2\r\n$%zu\r\n%s\r\n$%d\r\n%s\r\n", strlen(cmd), cmd, kl, key);
}

int main(int argc, char **argv)
{
    int batches = argc > 1 ? atoi(argv[1]) : 230;
    size_t batch = 192 * 1024, len = 0;
    struct db *db = calloc(1, sizeof *db);
    struct client c = { .reply_digest = 14695981039346656037ull };
    char *net = malloc(batch + 256);

    for (int b = 0; b < batches; b++) {
        while (len < batch)
            len += make_request(net + len);
        feed(&c, net, batch);
        process_input(db, &c);
        len -= batch;
        memmove(net, net + batch, len);
    }
    printf("%zu replies, %zu keys, %zu bytes pending, digest %016llx\n", c.replies, db->count,
           c.qlen, (unsigned long long)c.reply_digest);
    return 0;
}
