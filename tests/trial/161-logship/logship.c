/*
 * logship - pack telemetry messages with a small LZ codec and frame them
 * for shipping.  Each message is an independent block so that a consumer
 * can start anywhere in the stream.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_LOG   17
#define HASH_SIZE  (1u << HASH_LOG)
#define MIN_MATCH  4
#define MAX_MSG    4096
#define MAX_DIST   65535u

typedef struct {
    uint32_t table[HASH_SIZE];
} lz_ctx;

typedef struct {
    uint8_t *data;
    size_t len, cap;
} outbuf;

static inline uint32_t rd32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint32_t lz_hash(uint32_t v)
{
    return (v * 2654435761u) >> (32 - HASH_LOG);
}

lz_ctx *lz_new(void)
{
    return calloc(1, sizeof(lz_ctx));
}

static void lz_begin(lz_ctx *c)
{
    memset(c->table, 0, sizeof c->table);
}

static inline int lz_candidate(const lz_ctx *c, uint32_t slot, uint32_t *pos)
{
    if (c->table[slot] == 0)
        return 0;
    *pos = c->table[slot] - 1;
    return 1;
}

static inline void lz_remember(lz_ctx *c, uint32_t slot, uint32_t pos)
{
    c->table[slot] = pos + 1;
}

static uint8_t *put_varlen(uint8_t *op, uint32_t n)
{
    while (n >= 128) {
        *op++ = (uint8_t)(n | 128);
        n >>= 7;
    }
    *op++ = (uint8_t)n;
    return op;
}

static const uint8_t *get_varlen(const uint8_t *ip, uint32_t *n)
{
    uint32_t v = 0;
    int shift = 0;
    while (*ip & 128) {
        v |= (uint32_t)(*ip++ & 127) << shift;
        shift += 7;
    }
    *n = v | (uint32_t)*ip++ << shift;
    return ip;
}

/* token stream: literal-length, literals, match-length (0 = end), distance */
size_t lz_compress(lz_ctx *c, const uint8_t *src, uint32_t n, uint8_t *dst)
{
    uint8_t *op = dst;
    uint32_t i = 0, anchor = 0;

    lz_begin(c);
    while (i + MIN_MATCH <= n) {
        uint32_t v = rd32(src + i), h = lz_hash(v), cand;
        int found = lz_candidate(c, h, &cand);
        lz_remember(c, h, i);
        if (found && i - cand <= MAX_DIST && rd32(src + cand) == v) {
            uint32_t len = MIN_MATCH;
            while (i + len < n && src[cand + len] == src[i + len])
                len++;
            op = put_varlen(op, i - anchor);
            memcpy(op, src + anchor, i - anchor);
            op += i - anchor;
            op = put_varlen(op, len);
            op = put_varlen(op, i - cand);
            i += len;
            anchor = i;
        } else {
            i++;
        }
    }
    op = put_varlen(op, n - anchor);
    memcpy(op, src + anchor, n - anchor);
    op += n - anchor;
    *op++ = 0;
    return (size_t)(op - dst);
}

size_t lz_decompress(const uint8_t *ip, uint8_t *dst)
{
    uint8_t *op = dst;
    for (;;) {
        uint32_t lit, len, dist;
        ip = get_varlen(ip, &lit);
        memcpy(op, ip, lit);
        op += lit;
        ip += lit;
        ip = get_varlen(ip, &len);
        if (len == 0)
            return (size_t)(op - dst);
        ip = get_varlen(ip, &dist);
        for (const uint8_t *m = op - dist; len; len--)
            *op++ = *m++;
    }
}

static uint32_t adler(const uint8_t *p, size_t n)
{
    uint32_t a = 1, b = 0;
    while (n) {
        size_t k = n < 3800 ? n : 3800;
        n -= k;
        while (k--) {
            a += *p++;
            b += a;
        }
        a %= 65521;
        b %= 65521;
    }
    return b << 16 | a;
}

static void out_append(outbuf *o, const void *p, size_t n)
{
    if (o->len + n > o->cap) {
        o->cap = (o->len + n) * 2;
        o->data = realloc(o->data, o->cap);
    }
    memcpy(o->data + o->len, p, n);
    o->len += n;
}

static uint32_t rng_state = 20180503;

static uint32_t rnd(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 17;
    rng_state ^= rng_state << 5;
    return rng_state;
}

static int make_message(char *buf, uint32_t seq)
{
    static const char *const hosts[] = { "edge-ams-1", "edge-fra-2", "core-lon-7", "db-par-3" };
    static const char *const level[] = { "INFO", "WARN", "DEBUG", "INFO", "INFO" };
    static const char *const what[] = {
        "connection accepted from peer", "request finished", "cache entry expired",
        "retrying upstream request", "connection closed by peer",
    };
    int n = sprintf(buf, "{\"seq\":%u,\"host\":\"%s\",\"level\":\"%s\",\"msg\":\"%s\"",
                    seq, hosts[rnd() % 4], level[rnd() % 5], what[rnd() % 5]);
    int extra = (int)(rnd() % 4);
    for (int i = 0; i < extra; i++)
        n += sprintf(buf + n, ",\"metric%d\":{\"unit\":\"ms\",\"value\":%u}", i, rnd() % 10000);
    n += sprintf(buf + n, "}");
    return n;
}

int main(int argc, char **argv)
{
    uint32_t count = argc > 1 ? (uint32_t)atoi(argv[1]) : 240000;
    lz_ctx *ctx = lz_new();
    outbuf stream = { 0 };
    char msg[MAX_MSG];
    uint8_t packed[MAX_MSG * 2], check[MAX_MSG];
    size_t raw = 0, bad = 0;

    for (uint32_t seq = 0; seq < count; seq++) {
        uint32_t n = (uint32_t)make_message(msg, seq);
        size_t m = lz_compress(ctx, (const uint8_t *)msg, n, packed);
        uint32_t head[2] = { (uint32_t)m, adler((const uint8_t *)msg, n) };
        out_append(&stream, head, sizeof head);
        out_append(&stream, packed, m);
        raw += n;
    }

    for (size_t at = 0; at < stream.len;) {
        uint32_t head[2];
        memcpy(head, stream.data + at, sizeof head);
        size_t n = lz_decompress(stream.data + at + sizeof head, check);
        if (adler(check, n) != head[1])
            bad++;
        at += sizeof head + head[0];
    }
    printf("%u messages, %zu raw, %zu packed, %zu bad, digest %08x\n",
           count, raw, stream.len, bad, adler(stream.data, stream.len));
    free(stream.data);
    free(ctx);
    return bad != 0;
}
