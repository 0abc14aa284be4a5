/* recpack: compresses each record of a file of events by itself, checks that it can be read back, and prints a summary by topic. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_BITS 18
#define WINDOW ((1u << HASH_BITS) - 1)
#define MIN_MATCH 4
#define MAX_TOPICS 64
#define MAX_RECORD 65536

struct encoder {
    uint32_t table[1 << HASH_BITS];
    uint32_t chain[1 << HASH_BITS];
    uint32_t base;
};

struct buffer {
    uint8_t *data;
    size_t n, room;
};

struct topic {
    char name[16];
    unsigned long records, raw, packed;
    uint32_t sum;
};

static void die(const char *what)
{
    fprintf(stderr, "recpack: %s\n", what);
    exit(1);
}

static void put(struct buffer *b, const void *data, size_t n)
{
    if (b->n + n > b->room) {
        b->room = 2 * (b->n + n) + 64;
        b->data = realloc(b->data, b->room);
        if (!b->data)
            die("out of memory");
    }
    memcpy(b->data + b->n, data, n);
    b->n += n;
}

static void put_number(struct buffer *b, size_t v)
{
    uint8_t bytes[10];
    size_t n = 0;
    do {
        bytes[n++] = (uint8_t)(v & 127) | (v > 127 ? 128 : 0);
        v >>= 7;
    } while (v);
    put(b, bytes, n);
}

static uint32_t hash4(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return (v * 2654435761u) >> (32 - HASH_BITS);
}

static struct encoder *encoder_new(void)
{
    struct encoder *e = calloc(1, sizeof *e);
    if (!e)
        die("out of memory");
    e->base = 1;
    return e;
}

static void encoder_free(struct encoder *e)
{
    free(e);
}

/* the longest match for the bytes at i among those before */
static size_t find_match(const struct encoder *e, const uint8_t *in, size_t n, size_t i, size_t *distance)
{
    size_t best = 0;
    uint32_t at = e->table[hash4(in + i)];
    for (int tries = 8; at >= e->base && tries--; at = e->chain[at & WINDOW]) {
        size_t from = at - e->base, length = 0;
        while (i + length < n && in[from + length] == in[i + length])
            length++;
        if (length > best) {
            best = length;
            *distance = i - from;
        }
    }
    return best >= MIN_MATCH ? best : 0;
}

static void remember(struct encoder *e, const uint8_t *in, size_t i)
{
    uint32_t h = hash4(in + i), at = e->base + (uint32_t)i;
    e->chain[at & WINDOW] = e->table[h];
    e->table[h] = at;
}

static void encode(struct encoder *e, const uint8_t *in, size_t n, struct buffer *out)
{
    size_t literal = 0, i = 0;
    while (i + MIN_MATCH <= n) {
        size_t distance = 0, length = find_match(e, in, n, i, &distance);
        if (!length) {
            remember(e, in, i++);
            continue;
        }
        put_number(out, i - literal);
        put(out, in + literal, i - literal);
        put_number(out, length);
        put_number(out, distance);
        for (size_t end = i + length; i < end; i++)
            if (i + MIN_MATCH <= n)
                remember(e, in, i);
        literal = i;
    }
    put_number(out, n - literal);
    put(out, in + literal, n - literal);
    put_number(out, 0);
}

static size_t get_number(const struct buffer *b, size_t *at)
{
    size_t v = 0;
    for (unsigned shift = 0; *at < b->n; shift += 7) {
        uint8_t c = b->data[(*at)++];
        v |= (size_t)(c & 127) << shift;
        if (!(c & 128))
            break;
    }
    return v;
}

static void decode(const struct buffer *in, struct buffer *out)
{
    size_t at = 0;
    for (;;) {
        size_t n = get_number(in, &at);
        put(out, in->data + at, n);
        at += n;
        size_t length = get_number(in, &at);
        if (!length)
            return;
        size_t distance = get_number(in, &at);
        while (length--) {
            uint8_t c = out->data[out->n - distance];
            put(out, &c, 1);
        }
    }
}

static void pack_record(const char *record, size_t n, struct buffer *out)
{
    struct encoder *e = encoder_new();
    out->n = 0;
    encode(e, (const uint8_t *)record, n, out);
    encoder_free(e);
}

static struct topic *topic_of(struct topic *all, unsigned *n, const char *record)
{
    const char *s = strstr(record, "\"topic\":\"");
    char name[16] = "none";
    if (s)
        sscanf(s + 9, "%15[^\"]", name);
    for (unsigned i = 0; i < *n; i++)
        if (!strcmp(all[i].name, name))
            return &all[i];
    if (*n == MAX_TOPICS)
        die("too many topics");
    strcpy(all[*n].name, name);
    return &all[(*n)++];
}

int main(int argc, char **argv)
{
    static struct topic topics[MAX_TOPICS];
    struct buffer packed = { 0 }, back = { 0 };
    unsigned n_topics = 0;
    unsigned long wrong = 0;
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    FILE *f = fopen(argc > 1 ? argv[1] : "data/events.jsonl", "r");
    if (!f)
        die("no events");
    while ((n = getline(&line, &room, f)) > 0) {
        if (n > MAX_RECORD / 2)
            die("record too long");
        struct topic *t = topic_of(topics, &n_topics, line);
        pack_record(line, (size_t)n, &packed);
        back.n = 0;
        decode(&packed, &back);
        wrong += back.n != (size_t)n || memcmp(back.data, line, back.n);
        t->records++;
        t->raw += (size_t)n;
        t->packed += packed.n;
        for (size_t i = 0; i < packed.n; i++)
            t->sum = t->sum * 16777619u ^ packed.data[i];
    }
    fclose(f);
    for (unsigned i = 0; i < n_topics; i++)
        printf("%-6s %6lu records %9lu bytes, packed %8lu (%.1f %%), checksum %08x\n", topics[i].name, topics[i].records, topics[i].raw,
               topics[i].packed, 100.0 * topics[i].packed / topics[i].raw, topics[i].sum);
    printf("%lu could not be read back\n", wrong);
    return wrong != 0;
}
