/* kvpipe: a key/value server core that reads pipelined commands from its clients' buffers.
 * A client's queries arrive in large reads; commands are taken off the front of the query buffer. */
#include <ctype.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_CHUNK (256 * 1024)
#define SLOTS 65536
#define MAX_ARGS 4

struct sbuf {
    char *data;
    size_t len, room;
};

struct entry {
    char *key;
    long value;
    struct entry *next;
};

struct client {
    int fd;
    struct sbuf query;
    uint64_t commands, errors;
    uint32_t reply_sum;
};

static struct entry *table[SLOTS];
static size_t keys;

static void sbuf_reserve(struct sbuf *b, size_t extra)
{
    if (b->len + extra <= b->room)
        return;
    b->room = (b->len + extra) * 2;
    b->data = realloc(b->data, b->room);
    if (!b->data) {
        perror("realloc");
        exit(1);
    }
}

/* drops the first n bytes */
static void sbuf_consume(struct sbuf *b, size_t n)
{
    memmove(b->data, b->data + n, b->len - n);
    b->len -= n;
}

static uint32_t hash_key(const char *s)
{
    uint32_t h = 5381;
    while (*s)
        h = h * 33 + (unsigned char)*s++;
    return h ^ (h >> 15);
}

static struct entry *lookup(const char *key, int create)
{
    struct entry **slot = &table[hash_key(key) % SLOTS], *e;
    for (e = *slot; e; e = e->next)
        if (!strcmp(e->key, key))
            return e;
    if (!create)
        return NULL;
    e = malloc(sizeof *e);
    e->key = strdup(key);
    e->value = 0;
    e->next = *slot;
    *slot = e;
    keys++;
    return e;
}

static void reply(struct client *c, long v)
{
    c->reply_sum = c->reply_sum * 31 + (uint32_t)v;
}

static int split_args(char *line, char **args)
{
    int n = 0;
    while (*line && n < MAX_ARGS) {
        while (*line == ' ')
            line++;
        if (!*line)
            break;
        args[n++] = line;
        while (*line && *line != ' ')
            line++;
        if (*line)
            *line++ = 0;
    }
    return n;
}

static void execute(struct client *c, int argc, char **argv)
{
    struct entry *e;
    c->commands++;
    if (argc == 3 && !strcmp(argv[0], "SET")) {
        lookup(argv[1], 1)->value = strtol(argv[2], NULL, 10);
        reply(c, 1);
    } else if (argc == 2 && !strcmp(argv[0], "GET")) {
        e = lookup(argv[1], 0);
        reply(c, e ? e->value : -1);
    } else if (argc == 3 && !strcmp(argv[0], "ADD")) {
        e = lookup(argv[1], 1);
        e->value += strtol(argv[2], NULL, 10);
        reply(c, e->value);
    } else {
        c->errors++;
        reply(c, -2);
    }
}

/* takes one command off the query buffer; 0 if there is no complete one */
static int process_inline(struct client *c)
{
    char *args[MAX_ARGS];
    char *start = c->query.data, *nl = memchr(start, '\n', c->query.len);
    if (!nl)
        return 0;
    size_t used = (size_t)(nl - start) + 1;
    *nl = 0;
    if (nl > start && nl[-1] == '\r')
        nl[-1] = 0;
    int n = split_args(start, args);
    if (n)
        execute(c, n, args);
    sbuf_consume(&c->query, used);
    return 1;
}

static int read_query(struct client *c)
{
    sbuf_reserve(&c->query, READ_CHUNK);
    ssize_t n = read(c->fd, c->query.data + c->query.len, READ_CHUNK);
    if (n <= 0)
        return 0;
    c->query.len += (size_t)n;
    while (process_inline(c))
        ;
    return 1;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "data/pipeline.txt";
    struct client c = {0};
    c.fd = open(path, O_RDONLY);
    if (c.fd < 0) {
        perror(path);
        return 1;
    }
    while (read_query(&c))
        ;
    close(c.fd);
    long total = 0;
    size_t deepest = 0;
    for (int i = 0; i < SLOTS; i++) {
        size_t depth = 0;
        for (struct entry *e = table[i]; e; e = e->next, depth++)
            total += e->value;
        if (depth > deepest)
            deepest = depth;
    }
    printf("commands %llu errors %llu keys %zu longest chain %zu\n", (unsigned long long)c.commands,
           (unsigned long long)c.errors, keys, deepest);
    printf("total %ld replies %08x\n", total, c.reply_sum);
    return 0;
}
