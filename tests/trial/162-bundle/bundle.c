/*
 * bundle - write a reference bundle (text header followed by a binary
 * payload) and read it back, listing and verifying the references.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct strbuf {
    char *buf;
    size_t len, alloc;
};

struct ref {
    unsigned char oid[20];
    char *name;
};

struct ref_list {
    struct ref *refs;
    size_t nr, alloc;
};

struct bundle_header {
    int version;
    struct ref_list prereqs;
    struct ref_list heads;
};

static void die(const char *what)
{
    fprintf(stderr, "fatal: %s: %s\n", what, strerror(errno));
    exit(128);
}

void strbuf_grow(struct strbuf *sb, size_t extra)
{
    if (sb->len + extra + 1 > sb->alloc) {
        sb->alloc = (sb->len + extra + 1) * 3 / 2 + 16;
        sb->buf = realloc(sb->buf, sb->alloc);
        if (!sb->buf)
            die("realloc");
    }
}

static inline void strbuf_addch(struct strbuf *sb, int c)
{
    strbuf_grow(sb, 1);
    sb->buf[sb->len++] = (char)c;
    sb->buf[sb->len] = '\0';
}

static ssize_t xread(int fd, void *buf, size_t len)
{
    ssize_t n;
    do {
        n = read(fd, buf, len);
    } while (n < 0 && errno == EINTR);
    return n;
}

static void write_in_full(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t w = write(fd, p, n);
        if (w < 0)
            die("write");
        p += w;
        n -= (size_t)w;
    }
}

struct input {
    int fd;
};

static void input_init(struct input *in, int fd)
{
    in->fd = fd;
}

static ssize_t input_read(struct input *in, void *dst, size_t len)
{
    return xread(in->fd, dst, len);
}

int strbuf_getwholeline(struct strbuf *sb, struct input *in, int term)
{
    unsigned char ch;

    sb->len = 0;
    while (input_read(in, &ch, 1) == 1) {
        strbuf_addch(sb, ch);
        if (ch == term)
            break;
    }
    return sb->len ? 0 : -1;
}

static int hexval(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

static int parse_oid(const char *hex, unsigned char *oid)
{
    for (int i = 0; i < 20; i++) {
        int hi = hexval(hex[2 * i]), lo = hi < 0 ? -1 : hexval(hex[2 * i + 1]);
        if (lo < 0)
            return -1;
        oid[i] = (unsigned char)(hi << 4 | lo);
    }
    return 0;
}

static int check_refname(const char *name)
{
    if (strncmp(name, "refs/", 5))
        return -1;
    for (const char *p = name; *p; p++) {
        if ((unsigned char)*p <= ' ' || strchr("~^:?*[\\", *p))
            return -1;
        if (p[0] == '.' && p[1] == '.')
            return -1;
    }
    return 0;
}

static void add_ref(struct ref_list *l, const unsigned char *oid, const char *name)
{
    if (l->nr == l->alloc) {
        l->alloc = l->alloc ? l->alloc * 2 : 64;
        l->refs = realloc(l->refs, l->alloc * sizeof *l->refs);
    }
    memcpy(l->refs[l->nr].oid, oid, 20);
    l->refs[l->nr++].name = strdup(name);
}

static int read_bundle_header(struct input *in, struct bundle_header *h)
{
    struct strbuf line = { 0 };

    if (strbuf_getwholeline(&line, in, '\n') ||
        sscanf(line.buf, "# v%d bundle", &h->version) != 1)
        return -1;
    while (!strbuf_getwholeline(&line, in, '\n')) {
        unsigned char oid[20];
        int prereq = line.buf[0] == '-';
        char *p = line.buf + prereq;

        if (line.buf[0] == '\n')
            break;
        line.buf[--line.len] = '\0';
        if (line.len < 41 || parse_oid(p, oid) || p[40] != ' ')
            return -1;
        if (prereq)
            add_ref(&h->prereqs, oid, p + 41);
        else if (!check_refname(p + 41))
            add_ref(&h->heads, oid, p + 41);
        else
            fprintf(stderr, "warning: ignoring ref '%s'\n", p + 41);
    }
    free(line.buf);
    return 0;
}

static uint64_t checksum_payload(struct input *in)
{
    unsigned char chunk[65536];
    uint64_t h = 14695981039346656037ull;
    ssize_t n;

    while ((n = input_read(in, chunk, sizeof chunk)) > 0)
        for (ssize_t i = 0; i < n; i++)
            h = (h ^ chunk[i]) * 1099511628211ull;
    return h;
}

static uint64_t seed = 42;

static uint32_t next_rand(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33);
}

static void random_hex(char *out)
{
    for (int i = 0; i < 40; i++)
        out[i] = "0123456789abcdef"[next_rand() & 15];
    out[40] = '\0';
}

static void write_bundle(int fd, int nrefs)
{
    static const char *const ns[] = { "heads/topic", "tags/v", "pull", "changes" };
    char *text, hex[41];
    size_t len;
    FILE *mem = open_memstream(&text, &len);

    fprintf(mem, "# v2 bundle\n");
    for (int i = 0; i < 20; i++) {
        random_hex(hex);
        fprintf(mem, "-%s base commit %d\n", hex, i);
    }
    for (int i = 0; i < nrefs; i++) {
        random_hex(hex);
        fprintf(mem, "%s refs/%s/%u/%d\n", hex, ns[next_rand() % 4], next_rand() % 100, i);
    }
    fputc('\n', mem);
    for (int i = 0; i < 8 << 20; i += 4) {
        uint32_t r = next_rand();
        fwrite(&r, 4, 1, mem);
    }
    fclose(mem);
    write_in_full(fd, text, len);
    free(text);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct ref *)a)->name, ((const struct ref *)b)->name);
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/bundle-XXXXXX";
    int fd = mkstemp(path);
    struct bundle_header h = { 0 };
    struct input in;
    uint64_t names = 0;

    if (fd < 0)
        die("mkstemp");
    unlink(path);
    write_bundle(fd, argc > 1 ? atoi(argv[1]) : 56000);
    lseek(fd, 0, SEEK_SET);
    input_init(&in, fd);
    if (read_bundle_header(&in, &h))
        die("bad bundle header");
    qsort(h.heads.refs, h.heads.nr, sizeof *h.heads.refs, by_name);
    for (size_t i = 0; i < h.heads.nr; i++)
        for (const char *p = h.heads.refs[i].name; *p; p++)
            names = names * 31 + (unsigned char)*p + h.heads.refs[i].oid[3];
    printf("v%d: %zu prerequisites, %zu heads, first %s\n", h.version, h.prereqs.nr,
           h.heads.nr, h.heads.refs[0].name);
    printf("names %016llx payload %016llx\n", (unsigned long long)names,
           (unsigned long long)checksum_payload(&in));
    close(fd);
    return 0;
}
