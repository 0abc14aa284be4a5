/*
 * manindex - build a whatis index from an archive of compressed manual
 * pages.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct page {
    char name[32];
    unsigned char *data;
    size_t len;
};

struct archive {
    struct page *pages;
    size_t n;
};

struct whatis {
    char *key, *text;
};

static char *inflate_page(const unsigned char *src, size_t len, size_t *out_len)
{
    z_stream z;
    size_t cap = len * 6 + 512;
    char *out = malloc(cap);

    memset(&z, 0, sizeof z);
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return NULL;
    z.next_in = (unsigned char *)src;
    z.avail_in = (uInt)len;
    for (;;) {
        z.next_out = (unsigned char *)out + z.total_out;
        z.avail_out = (uInt)(cap - z.total_out - 1);
        int r = inflate(&z, Z_NO_FLUSH);
        if (r == Z_STREAM_END)
            break;
        if (r != Z_OK) {
            inflateEnd(&z);
            free(out);
            return NULL;
        }
        cap *= 2;
        out = realloc(out, cap);
    }
    *out_len = z.total_out;
    out[*out_len] = '\0';
    inflateEnd(&z);
    return out;
}

char *decode_page(const struct page *p, size_t *len)
{
    return inflate_page(p->data, p->len, len);
}

/* collapse roff escapes and white space in place */
static void clean_text(char *s)
{
    char *d = s;

    for (; *s; s++) {
        if (s[0] == '\\' && s[1] == 'f' && s[2]) {
            s += 2;
        } else if (s[0] == '\\' && s[1] == '-') {
            *d++ = '-';
            s++;
        } else if (isspace((unsigned char)*s)) {
            if (d[-1] != ' ')
                *d++ = ' ';
        } else {
            *d++ = *s;
        }
    }
    while (d[-1] == ' ')
        d--;
    *d = '\0';
}

static char *name_section(const char *text)
{
    const char *p = text, *end;
    char *out;

    while (p && strncmp(p, ".SH NAME\n", 9)) {
        p = strchr(p, '\n');
        if (p)
            p++;
    }
    if (!p)
        return NULL;
    p += 9;
    end = strstr(p, "\n.SH");
    out = strndup(p, end ? (size_t)(end - p) : strlen(p));
    clean_text(out);
    return out;
}

static size_t index_page(const struct page *p, struct whatis *out)
{
    size_t len, n = 0;
    char *text = decode_page(p, &len), *names, *dash, *save, *tok;

    if (!text || !(names = name_section(text))) {
        fprintf(stderr, "warning: %s: whatis parse failed\n", p->name);
        free(text);
        return 0;
    }
    dash = strstr(names, " - ");
    if (dash) {
        *dash = '\0';
        for (tok = strtok_r(names, ", ", &save); tok && n < 4; tok = strtok_r(NULL, ", ", &save)) {
            out[n].key = strdup(tok);
            out[n++].text = strdup(dash + 3);
        }
    }
    free(names);
    free(text);
    return n;
}

static uint32_t seed = 2210;

static uint32_t rnd(uint32_t n)
{
    seed = seed * 1103515245u + 12345u;
    return (seed >> 8) % n;
}

static char *make_text(int id, size_t *len)
{
    static const char *const word[] = { "file", "returns", "the", "socket", "buffer", "process", "option",
                                        "signal", "a", "directory", "value", "argument", "of", "stream" };
    char *text;
    FILE *f = open_memstream(&text, len);

    fprintf(f, ".TH CALL%d 3\n.SH NAME\ncall%d, fcall%d \\- %s\nof a \\fI%s\\fP\n.SH DESCRIPTION\n", id, id, id,
            word[rnd(14)], word[rnd(14)]);
    for (uint32_t n = 200 + rnd(700); n; n--)
        fprintf(f, "%s%s", word[rnd(14)], rnd(12) ? " " : ".\n.PP\n");
    fprintf(f, "\n.SH SEE ALSO\ncall%u(3)\n", rnd(1000));
    fclose(f);
    return text;
}

static void make_archive(struct archive *a, size_t n)
{
    a->pages = calloc(n, sizeof *a->pages);
    a->n = n;
    for (size_t i = 0; i < n; i++) {
        struct page *p = &a->pages[i];
        size_t len;
        char *text = make_text((int)i, &len);
        z_stream z;

        snprintf(p->name, sizeof p->name, "call%zu.3.gz", i);
        memset(&z, 0, sizeof z);
        deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
        p->data = malloc(deflateBound(&z, len));
        z.next_in = (unsigned char *)text;
        z.avail_in = (uInt)len;
        z.next_out = p->data;
        z.avail_out = (uInt)deflateBound(&z, len);
        deflate(&z, Z_FINISH);
        p->len = z.total_out;
        deflateEnd(&z);
        free(text);
    }
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct whatis *)a)->key, ((const struct whatis *)b)->key);
}

int main(int argc, char **argv)
{
    struct archive a;
    struct whatis *db;
    size_t n = 0;
    uint64_t h = 14695981039346656037ull;

    make_archive(&a, argc > 1 ? (size_t)atoi(argv[1]) : 2500);
    db = malloc(a.n * 4 * sizeof *db);
    for (size_t i = 0; i < a.n; i++)
        n += index_page(&a.pages[i], db + n);
    qsort(db, n, sizeof *db, by_key);
    for (size_t i = 0; i < n; i++)
        for (const char *s = db[i].text; *s; s++)
            h = (h ^ (unsigned char)*s) * 1099511628211ull;
    printf("%zu pages, %zu entries, digest %016llx\n", a.n, n, (unsigned long long)h);
    printf("%s - %s\n", db[0].key, db[0].text);
    return 0;
}
