/* confscan - tokenise and check an HCL-like configuration file. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum tok_kind { T_IDENT, T_STRING, T_NUMBER, T_PUNCT, T_COMMENT, T_EOF };

struct position { int line, column; };

struct token {
    enum tok_kind kind;
    const char *start;
    size_t len;
    struct position pos;
};

struct scanner {
    const char *text;
    size_t size;
    size_t off;
};

struct token_list {
    struct token *items;
    size_t count, cap;
};

struct block_stats {
    int blocks, attributes, depth, max_depth, warnings;
};

static char *slurp(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "confscan: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *buf = malloc((size_t)n + 1);
    if (!buf || fread(buf, 1, (size_t)n, f) != (size_t)n) {
        fprintf(stderr, "confscan: short read\n");
        exit(1);
    }
    buf[n] = '\0';
    fclose(f);
    *size = (size_t)n;
    return buf;
}

static struct position position_of(const struct scanner *s, size_t off)
{
    struct position p = { 1, 1 };
    for (size_t i = 0; i < off; i++) {
        if (s->text[i] == '\n') {
            p.line++;
            p.column = 1;
        } else {
            p.column++;
        }
    }
    return p;
}

static void skip_space(struct scanner *s)
{
    while (s->off < s->size && isspace((unsigned char)s->text[s->off]))
        s->off++;
}

static size_t scan_string(const struct scanner *s, size_t i)
{
    for (i++; i < s->size && s->text[i] != '"'; i++)
        if (s->text[i] == '\\')
            i++;
    return i < s->size ? i + 1 : s->size;
}

static struct token next_token(struct scanner *s)
{
    struct token t;
    skip_space(s);
    t.start = s->text + s->off;
    t.pos = position_of(s, s->off);
    if (s->off >= s->size) {
        t.kind = T_EOF;
        t.len = 0;
        return t;
    }
    size_t i = s->off;
    unsigned char c = (unsigned char)s->text[i];
    if (isalpha(c) || c == '_') {
        while (i < s->size && (isalnum((unsigned char)s->text[i]) || strchr("_-.", s->text[i])))
            i++;
        t.kind = T_IDENT;
    } else if (isdigit(c)) {
        while (i < s->size && (isdigit((unsigned char)s->text[i]) || s->text[i] == '.'))
            i++;
        t.kind = T_NUMBER;
    } else if (c == '"') {
        i = scan_string(s, i);
        t.kind = T_STRING;
    } else if (c == '#') {
        while (i < s->size && s->text[i] != '\n')
            i++;
        t.kind = T_COMMENT;
    } else {
        i++;
        t.kind = T_PUNCT;
    }
    t.len = i - s->off;
    s->off = i;
    return t;
}

static void push_token(struct token_list *l, struct token t)
{
    if (l->count == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 256;
        l->items = realloc(l->items, l->cap * sizeof *l->items);
        if (!l->items)
            abort();
    }
    l->items[l->count++] = t;
}

static void tokenize(struct scanner *s, struct token_list *out)
{
    for (;;) {
        struct token t = next_token(s);
        push_token(out, t);
        if (t.kind == T_EOF)
            break;
    }
}

static void check_structure(const struct token_list *l, struct block_stats *st)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct token *t = &l->items[i];
        if (t->kind != T_PUNCT)
            continue;
        switch (*t->start) {
        case '{':
            st->blocks++;
            if (++st->depth > st->max_depth)
                st->max_depth = st->depth;
            break;
        case '}':
            st->depth--;
            break;
        case '=':
            st->attributes++;
            if (i > 0 && t->pos.line != l->items[i - 1].pos.line) {
                printf("%d:%d: warning: '=' on its own line\n", t->pos.line, t->pos.column);
                st->warnings++;
            }
            break;
        }
    }
}

struct schema {
    char names[512][40];
    size_t count;
};

static void load_schema(const char *path, struct schema *sc)
{
    FILE *f = fopen(path, "r");
    if (!f)
        return;
    while (sc->count < 512 && fgets(sc->names[sc->count], sizeof sc->names[0], f)) {
        sc->names[sc->count][strcspn(sc->names[sc->count], "\n")] = '\0';
        sc->count++;
    }
    fclose(f);
}

static int edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    int row[80];
    if (n > 70 || m > 70)
        return 99;
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int diag = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int up = row[j], best = diag + (a[i - 1] != b[j - 1]);
            if (up + 1 < best)
                best = up + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diag = up;
            row[j] = best;
        }
    }
    return row[m];
}

static int suggest_names(const struct token_list *l, const struct schema *sc)
{
    int unknown = 0;
    for (size_t i = 0; i + 1 < l->count; i++) {
        const struct token *t = &l->items[i];
        if (t->kind != T_IDENT && t->kind != T_STRING)
            continue;
        const char *best = NULL;
        int best_distance = 3;
        for (size_t k = 0; k < sc->count; k++) {
            int d = edit_distance(t->start, t->len, sc->names[k], strlen(sc->names[k]));
            if (d < best_distance) {
                best_distance = d;
                best = sc->names[k];
            }
        }
        if (best && best_distance > 0) {
            if (unknown++ < 10)
                printf("%d:%d: did you mean '%s'?\n", t->pos.line, t->pos.column, best);
        }
    }
    return unknown;
}

static void print_outline(const struct token_list *l)
{
    int depth = 0;
    for (size_t i = 0; i + 1 < l->count; i++) {
        const struct token *t = &l->items[i];
        if (t->kind == T_PUNCT && *t->start == '{')
            depth++;
        else if (t->kind == T_PUNCT && *t->start == '}')
            depth--;
        else if (depth == 0 && t->kind == T_IDENT)
            printf("%6d:%-4d %.*s\n", t->pos.line, t->pos.column, (int)t->len, t->start);
    }
}

int main(int argc, char **argv)
{
    struct scanner s = { 0 };
    struct token_list tokens = { 0 };
    struct block_stats st = { 0 };
    static struct schema schema;
    load_schema("data/schema.txt", &schema);
    s.text = slurp(argc > 1 ? argv[1] : "data/infra.hcl", &s.size);
    tokenize(&s, &tokens);
    check_structure(&tokens, &st);
    printf("%d names to review\n", suggest_names(&tokens, &schema));
    print_outline(&tokens);
    printf("%zu tokens, %d blocks, %d attributes, depth %d, %d warnings\n",
           tokens.count, st.blocks, st.attributes, st.max_depth, st.warnings);
    free(tokens.items);
    free((void *)s.text);
    return 0;
}
