/* minidist: "compiles" the translation units of a source list on a server
 * process, in the manner of distcc: the client preprocesses a file, sends it
 * over TCP as a sequence of tokens, and gets back status and object file.
 *
 * Protocol: each token is four letters and an eight digit hex number; a token
 * that announces a body is followed by that many bytes.
 *   request:  DIST vers, ARGC n, n x ARGV len, DOTI len
 *   reply:    DONE vers, STAT status, SERR len, SOUT len, DOTO len */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#define PROTO_VER 3

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- growing buffers ------------------------------------------------------- */

struct buf {
    char *p;
    size_t len, size;
};

static void buf_add(struct buf *b, const void *data, size_t n)
{
    if (b->len + n + 1 > b->size) {
        b->size = (b->len + n + 1) * 2;
        b->p = realloc(b->p, b->size);
        if (!b->p)
            die("realloc");
    }
    memcpy(b->p + b->len, data, n);
    b->len += n;
    b->p[b->len] = 0;
}

static void buf_printf(struct buf *b, const char *fmt, ...)
{
    char line[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    buf_add(b, line, n);
}

/* ---- network --------------------------------------------------------------- */

/* Hold back partial packets while a request or reply is put together, and
 * push out what is there at its end. */
static void tcp_cork_sock(int fd, int corked)
{
    if (setsockopt(fd, IPPROTO_TCP, TCP_CORK, &corked, sizeof(corked)))
        die("setsockopt(TCP_CORK)");
}

static void dcc_writex(int fd, const void *data, size_t len)
{
    const char *p = data;
    while (len) {
        ssize_t n = write(fd, p, len);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            die("write");
        }
        p += n;
        len -= n;
    }
}

static int dcc_readx(int fd, void *data, size_t len)
{
    char *p = data;
    while (len) {
        ssize_t n = read(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        p += n;
        len -= n;
    }
    return 0;
}

static void dcc_x_token_int(int fd, const char *token, unsigned param)
{
    char out[13];
    snprintf(out, sizeof(out), "%4.4s%08x", token, param);
    dcc_writex(fd, out, 12);
}

static void dcc_x_token_string(int fd, const char *token, const char *data, size_t len)
{
    dcc_x_token_int(fd, token, len);
    dcc_writex(fd, data, len);
}

static int dcc_r_token_int(int fd, const char *expect, unsigned *param)
{
    char in[13];
    if (dcc_readx(fd, in, 12))
        return -1;
    in[12] = 0;
    if (memcmp(in, expect, 4)) {
        fprintf(stderr, "protocol: expected %s, got %.4s\n", expect, in);
        exit(1);
    }
    *param = strtoul(in + 4, NULL, 16);
    return 0;
}

static int dcc_r_token_string(int fd, const char *expect, struct buf *b)
{
    unsigned len;
    b->len = 0;
    if (dcc_r_token_int(fd, expect, &len))
        return -1;
    char *tmp = malloc(len + 1);
    int rc = dcc_readx(fd, tmp, len);
    if (rc == 0)
        buf_add(b, tmp, len);
    free(tmp);
    return rc;
}

/* ---- the "compiler" on the server -------------------------------------------- */

#define SYMS 4096

struct symbol {
    char name[40];
    unsigned uses;
};

static unsigned lookup(struct symbol *tab, unsigned *n, const char *s, size_t len)
{
    unsigned h = 5381;
    if (len >= sizeof(tab->name))
        len = sizeof(tab->name) - 1;
    for (size_t i = 0; i < len; i++)
        h = h * 33 + (unsigned char)s[i];
    for (h %= SYMS; tab[h].uses; h = (h + 1) % SYMS)
        if (strncmp(tab[h].name, s, len) == 0 && !tab[h].name[len])
            break;
    if (!tab[h].uses && *n < SYMS / 2) {
        memcpy(tab[h].name, s, len);
        (*n)++;
    }
    if (tab[h].name[0])
        tab[h].uses++;
    return h;
}

/* turns identifiers and operators into a packed stream of codes */
static int compile_unit(const struct buf *in, struct buf *err, struct buf *object)
{
    struct symbol *tab = calloc(SYMS, sizeof(*tab));
    struct buf code = { 0 };
    unsigned nsyms = 0, depth = 0, line = 1, status = 0;
    for (const char *p = in->p, *e = in->p + in->len; p < e;) {
        const char *s = p;
        if (isalpha((unsigned char)*p) || *p == '_') {
            while (p < e && (isalnum((unsigned char)*p) || *p == '_'))
                p++;
            uint16_t sym = lookup(tab, &nsyms, s, p - s);
            buf_add(&code, &sym, sizeof(sym));
            continue;
        }
        if (*p == '{')
            depth++;
        else if (*p == '}' && depth-- == 0) {
            buf_printf(err, "%u: unbalanced brace\n", line);
            status = 1;
            depth = 0;
        }
        line += *p == '\n';
        if (!isspace((unsigned char)*p))
            buf_add(&code, p, 1);
        p++;
    }
    uLongf zlen = compressBound(code.len);
    char *z = malloc(zlen);
    compress2((Bytef *)z, &zlen, (Bytef *)code.p, code.len, 9);
    buf_printf(object, "OBJ %u symbols %u lines\n", nsyms, line);
    buf_add(object, z, zlen);
    free(z);
    free(code.p);
    free(tab);
    return status;
}

static int serve_request(int fd)
{
    unsigned ver, argc, status;
    struct buf arg = { 0 }, in = { 0 }, err = { 0 }, out = { 0 }, object = { 0 };
    if (dcc_r_token_int(fd, "DIST", &ver))
        return -1;
    dcc_r_token_int(fd, "ARGC", &argc);
    for (unsigned i = 0; i < argc; i++) {
        dcc_r_token_string(fd, "ARGV", &arg);
        buf_printf(&out, "%s%s", i ? " " : "", arg.p);
    }
    dcc_r_token_string(fd, "DOTI", &in);
    status = compile_unit(&in, &err, &object);
    tcp_cork_sock(fd, 1);
    dcc_x_token_int(fd, "DONE", ver);
    dcc_x_token_int(fd, "STAT", status);
    dcc_x_token_string(fd, "SERR", err.p, err.len);
    dcc_x_token_string(fd, "SOUT", out.p, out.len);
    dcc_x_token_string(fd, "DOTO", object.p, object.len);
    tcp_cork_sock(fd, 0);
    free(arg.p);
    free(in.p);
    free(err.p);
    free(out.p);
    free(object.p);
    return 0;
}

static void server(int lfd)
{
    int fd = accept(lfd, NULL, NULL);
    if (fd < 0)
        die("accept");
    while (serve_request(fd) == 0)
        ;
    close(fd);
}

/* ---- client ------------------------------------------------------------------ */

/* expands "#include" of the list's header part, drops comments */
static void preprocess(const struct buf *headers, const char *body, size_t len, struct buf *out)
{
    out->len = 0;
    buf_add(out, headers->p, headers->len);
    for (size_t i = 0; i < len; i++) {
        if (body[i] == '/' && i + 1 < len && body[i + 1] == '*') {
            const char *e = strstr(body + i + 2, "*/");
            if (!e || e >= body + len)
                break;
            i = e + 1 - body;
            continue;
        }
        buf_add(out, body + i, 1);
    }
}

static void compile_remote(int fd, const char *name, const struct buf *unit)
{
    const char *argv[] = { "cc", "-O2", "-c", name };
    unsigned ver, status;
    struct buf err = { 0 }, out = { 0 }, object = { 0 };
    tcp_cork_sock(fd, 1);
    dcc_x_token_int(fd, "DIST", PROTO_VER);
    dcc_x_token_int(fd, "ARGC", 4);
    for (int i = 0; i < 4; i++)
        dcc_x_token_string(fd, "ARGV", argv[i], strlen(argv[i]));
    dcc_x_token_string(fd, "DOTI", unit->p, unit->len);
    tcp_cork_sock(fd, 0);
    if (dcc_r_token_int(fd, "DONE", &ver) || dcc_r_token_int(fd, "STAT", &status) ||
        dcc_r_token_string(fd, "SERR", &err) || dcc_r_token_string(fd, "SOUT", &out) ||
        dcc_r_token_string(fd, "DOTO", &object))
        die("server is gone");
    printf("%s: status %u, %zu -> %zu bytes, crc %08lx: %.*s\n", out.p, status, unit->len, object.len,
           crc32(0, (Bytef *)object.p, object.len), (int)strcspn(object.p, "\n"), object.p);
    if (err.len)
        printf("%s", err.p);
    free(err.p);
    free(out.p);
    free(object.p);
}

/* The list: a header part up to the first "@file", then the units. */
static int client(int fd, const char *path)
{
    struct buf headers = { 0 }, body = { 0 }, unit = { 0 };
    char line[512], name[64] = "";
    int n = 0;
    FILE *f = fopen(path, "r");
    if (!f)
        die(path);
    while (fgets(line, sizeof(line), f)) {
        int mark = strncmp(line, "@file ", 6) == 0;
        if (!mark) {
            buf_add(name[0] ? &body : &headers, line, strlen(line));
            continue;
        }
        if (name[0]) {
            preprocess(&headers, body.p, body.len, &unit);
            compile_remote(fd, name, &unit);
            n++;
        }
        body.len = 0;
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(line + 6, "\n"), line + 6);
    }
    fclose(f);
    printf("%d units compiled\n", n);
    free(headers.p);
    free(body.p);
    free(unit.p);
    return 0;
}

int main(int argc, char **argv)
{
    struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(addr);
    int lfd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(lfd, (struct sockaddr *)&addr, len) || listen(lfd, 1) ||
        getsockname(lfd, (struct sockaddr *)&addr, &len))
        die("listen");
    pid_t pid = fork();
    if (pid == 0) {
        server(lfd);
        exit(0);
    }
    close(lfd);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&addr, len))
        die("connect");
    client(fd, argc > 1 ? argv[1] : "units.list");
    close(fd);
    waitpid(pid, NULL, 0);
    return 0;
}
