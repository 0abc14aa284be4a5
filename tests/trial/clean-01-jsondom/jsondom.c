/* jsondom - parse a JSON document into a tree, then answer path queries on it. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum type { J_NULL, J_BOOL, J_NUMBER, J_STRING, J_ARRAY, J_OBJECT };

struct node {
    enum type type;
    char *key;
    union { double number; char *string; } u;
    struct node *child, *last, *next;
    size_t nchildren;
};

struct parser { const char *p, *end; int depth; };

static struct node *parse_value(struct parser *ps);

static void fail(struct parser *ps, const char *why)
{
    fprintf(stderr, "jsondom: %s near '%.20s'\n", why, ps->p);
    exit(1);
}

static void skip_ws(struct parser *ps)
{
    while (ps->p < ps->end && isspace((unsigned char)*ps->p))
        ps->p++;
}

static struct node *new_node(enum type t)
{
    struct node *n = calloc(1, sizeof *n);
    if (!n)
        abort();
    n->type = t;
    return n;
}

static char *parse_string(struct parser *ps)
{
    const char *s = ++ps->p;
    while (ps->p < ps->end && *ps->p != '"')
        ps->p += *ps->p == '\\' ? 2 : 1;
    size_t n = (size_t)(ps->p - s), o = 0;
    char *out = malloc(n + 1);
    for (size_t i = 0; i < n; i++)
        out[o++] = s[i] == '\\' && i + 1 < n ? s[++i] : s[i];
    out[o] = '\0';
    ps->p++;
    return out;
}

static void append(struct node *parent, struct node *n)
{
    if (parent->last)
        parent->last->next = n;
    else
        parent->child = n;
    parent->last = n;
    parent->nchildren++;
}

static struct node *parse_members(struct parser *ps, enum type t, char close)
{
    struct node *n = new_node(t);
    ps->p++;
    if (++ps->depth > 200)
        fail(ps, "too deep");
    skip_ws(ps);
    while (ps->p < ps->end && *ps->p != close) {
        char *key = NULL;
        skip_ws(ps);
        if (t == J_OBJECT) {
            if (*ps->p != '"')
                fail(ps, "key expected");
            key = parse_string(ps);
            skip_ws(ps);
            if (*ps->p++ != ':')
                fail(ps, "':' expected");
        }
        struct node *c = parse_value(ps);
        c->key = key;
        append(n, c);
        skip_ws(ps);
        if (*ps->p == ',')
            ps->p++;
    }
    ps->p++;
    ps->depth--;
    return n;
}

static struct node *parse_value(struct parser *ps)
{
    struct node *n;
    skip_ws(ps);
    switch (*ps->p) {
    case '{': return parse_members(ps, J_OBJECT, '}');
    case '[': return parse_members(ps, J_ARRAY, ']');
    case '"':
        n = new_node(J_STRING);
        n->u.string = parse_string(ps);
        return n;
    case 't': ps->p += 4; n = new_node(J_BOOL); n->u.number = 1; return n;
    case 'f': ps->p += 5; return new_node(J_BOOL);
    case 'n': ps->p += 4; return new_node(J_NULL);
    default: {
        char *e;
        n = new_node(J_NUMBER);
        n->u.number = strtod(ps->p, &e);
        if (e == ps->p)
            fail(ps, "value expected");
        ps->p = e;
        return n;
    }
    }
}

static const struct node *member(const struct node *n, const char *key)
{
    for (const struct node *c = n->child; c; c = c->next)
        if (c->key && !strcmp(c->key, key))
            return c;
    return NULL;
}

static void walk(const struct node *n, size_t counts[6], double *sum, size_t *text)
{
    counts[n->type]++;
    if (n->type == J_NUMBER)
        *sum += n->u.number;
    if (n->type == J_STRING)
        *text += strlen(n->u.string);
    for (const struct node *c = n->child; c; c = c->next)
        walk(c, counts, sum, text);
}

static void free_tree(struct node *n)
{
    for (struct node *c = n->child, *next; c; c = next) {
        next = c->next;
        free_tree(c);
    }
    if (n->type == J_STRING)
        free(n->u.string);
    free(n->key);
    free(n);
}

static char *slurp(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *buf = malloc(*size + 1);
    *size = fread(buf, 1, *size, f);
    buf[*size] = '\0';
    fclose(f);
    return buf;
}

int main(int argc, char **argv)
{
    size_t size, counts[6] = { 0 }, text = 0;
    double sum = 0, price = 0;
    char *buf = slurp(argc > 1 ? argv[1] : "data/export.json", &size);
    struct parser ps = { buf, buf + size, 0 };
    struct node *root = parse_value(&ps);
    walk(root, counts, &sum, &text);
    for (const struct node *c = root->child; c; c = c->next) {
        const struct node *d = member(c, "details"), *p = d ? member(d, "price") : NULL;
        if (p)
            price += p->u.number;
    }
    printf("objects %zu arrays %zu strings %zu numbers %zu text %zu sum %.2f price %.2f\n",
           counts[J_OBJECT], counts[J_ARRAY], counts[J_STRING], counts[J_NUMBER], text, sum, price);
    free_tree(root);
    free(buf);
    return 0;
}
