/* wmprops: starts a small window server with a saved session, and prints a summary of the properties of all its windows. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OP_WINDOWS = 1, OP_LIST_PROPERTIES, OP_ATOM_NAME, OP_GET_PROPERTY, OP_QUIT };

#define MAX_ATOMS 1024
#define MAX_WINDOWS 4096
#define MAX_PROPS 40
#define MAX_VALUE 64

struct request {
    uint32_t op, window, atom;
};

struct property {
    uint32_t atom;
    char value[MAX_VALUE];
};

struct window {
    uint32_t id;
    unsigned n_props;
    struct property props[MAX_PROPS];
};

static void die(const char *what)
{
    fprintf(stderr, "wmprops: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void write_all(int fd, const void *data, size_t n)
{
    const char *p = data;
    while (n) {
        ssize_t done = write(fd, p, n);
        if (done < 0)
            die("write");
        p += done;
        n -= (size_t)done;
    }
}

/* ---- the server ---- */

static char *atoms[MAX_ATOMS];
static uint32_t n_atoms = 1;
static struct window *windows;
static unsigned n_windows;

static uint32_t intern(const char *name)
{
    for (uint32_t a = 1; a < n_atoms; a++)
        if (!strcmp(atoms[a], name))
            return a;
    atoms[n_atoms] = strdup(name);
    return n_atoms++;
}

static void load_session(const char *path)
{
    FILE *f = fopen(path, "r");
    char line[256], name[128], value[128];
    unsigned id;
    if (!f)
        die(path);
    windows = calloc(MAX_WINDOWS, sizeof *windows);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "window %x %127s", &id, name) == 2) {
            windows[n_windows++].id = id;
        } else if (n_windows && sscanf(line, "%127s %127[^\n]", name, value) == 2) {
            struct window *w = &windows[n_windows - 1];
            struct property *p = &w->props[w->n_props++];
            p->atom = intern(name);
            snprintf(p->value, sizeof p->value, "%.63s", value);
        }
    }
    fclose(f);
}

static struct window *window_of(uint32_t id)
{
    unsigned lo = 0, hi = n_windows;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (windows[mid].id == id)
            return &windows[mid];
        if (windows[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

static size_t put_reply(char *out, const void *data, uint32_t n)
{
    memcpy(out, &n, 4);
    memcpy(out + 4, data, n);
    return n + 4;
}

static size_t answer(const struct request *r, char *out)
{
    static uint32_t list[MAX_WINDOWS];
    struct window *w = window_of(r->window);
    if (r->op == OP_WINDOWS) {
        for (unsigned i = 0; i < n_windows; i++)
            list[i] = windows[i].id;
        return put_reply(out, list, n_windows * 4);
    }
    if (r->op == OP_ATOM_NAME && r->atom > 0 && r->atom < n_atoms)
        return put_reply(out, atoms[r->atom], (uint32_t)strlen(atoms[r->atom]));
    if (r->op == OP_LIST_PROPERTIES && w) {
        for (unsigned i = 0; i < w->n_props; i++)
            list[i] = w->props[i].atom;
        return put_reply(out, list, w->n_props * 4);
    }
    if (r->op == OP_GET_PROPERTY && w)
        for (unsigned i = 0; i < w->n_props; i++)
            if (w->props[i].atom == r->atom)
                return put_reply(out, w->props[i].value, (uint32_t)strlen(w->props[i].value));
    return put_reply(out, "", 0);
}

static void serve(int fd, const char *session)
{
    static char out[65536];
    static struct request in[512];
    size_t have = 0;
    load_session(session);
    for (;;) {
        ssize_t n = read(fd, (char *)in + have, sizeof in - have);
        if (n <= 0)
            exit(n < 0);
        have += (size_t)n;
        size_t count = have / sizeof *in, filled = 0;
        for (size_t i = 0; i < count; i++) {
            if (in[i].op == OP_QUIT)
                exit(0);
            if (filled > sizeof out / 2) {
                write_all(fd, out, filled);
                filled = 0;
            }
            filled += answer(&in[i], out + filled);
        }
        write_all(fd, out, filled);
        have -= count * sizeof *in;
        memmove(in, in + count, have);
    }
}

/* ---- the client ---- */

struct display {
    int fd;
    char in[65536];
    size_t from, to;
    unsigned long replies;
};

static void send_request(struct display *d, uint32_t op, uint32_t window, uint32_t atom)
{
    struct request r = { op, window, atom };
    write_all(d->fd, &r, sizeof r);
}

/* makes n bytes of input available */
static const char *need(struct display *d, size_t n)
{
    if (d->to - d->from < n) {
        memmove(d->in, d->in + d->from, d->to - d->from);
        d->to -= d->from;
        d->from = 0;
        while (d->to < n) {
            ssize_t got = read(d->fd, d->in + d->to, sizeof d->in - d->to);
            if (got <= 0)
                die("the server went away");
            d->to += (size_t)got;
        }
    }
    d->from += n;
    return d->in + d->from - n;
}

static uint32_t read_reply(struct display *d, void *data, size_t room)
{
    uint32_t n;
    memcpy(&n, need(d, 4), 4);
    if (n > room)
        die("reply too long");
    memcpy(data, need(d, n), n);
    d->replies++;
    return n;
}

static uint32_t request_reply(struct display *d, uint32_t op, uint32_t window, uint32_t atom, void *data, size_t room)
{
    send_request(d, op, window, atom);
    return read_reply(d, data, room);
}

struct totals {
    unsigned long properties, bytes, names, numbers;
    uint32_t sum;
    char longest[MAX_VALUE];
};

static void account(struct totals *t, const char *name, const char *value)
{
    size_t n = strlen(value);
    t->properties++;
    t->bytes += n;
    t->names += strstr(name, "NAME") != NULL;
    t->numbers += strspn(value, "0123456789") == n;
    for (const char *p = name; *p; p++)
        t->sum = t->sum * 31 + (unsigned char)*p;
    for (const char *p = value; *p; p++)
        t->sum = t->sum * 31 + (unsigned char)*p;
    if (n > strlen(t->longest))
        strcpy(t->longest, value);
}

static void show_window(struct display *d, uint32_t window, struct totals *t)
{
    uint32_t list[MAX_PROPS];
    char name[128], value[MAX_VALUE + 1];
    uint32_t n = request_reply(d, OP_LIST_PROPERTIES, window, 0, list, sizeof list) / 4;
    for (uint32_t i = 0; i < n; i++) {
        name[request_reply(d, OP_ATOM_NAME, 0, list[i], name, sizeof name - 1)] = 0;
        value[request_reply(d, OP_GET_PROPERTY, window, list[i], value, MAX_VALUE)] = 0;
        account(t, name, value);
    }
}

int main(int argc, char **argv)
{
    static struct display d;
    static uint32_t list[MAX_WINDOWS];
    struct totals t = { 0 };
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        die("socketpair");
    pid_t server = fork();
    if (server < 0)
        die("fork");
    if (!server) {
        close(ends[0]);
        serve(ends[1], argc > 1 ? argv[1] : "data/session.txt");
    }
    close(ends[1]);
    d.fd = ends[0];
    uint32_t n = request_reply(&d, OP_WINDOWS, 0, 0, list, sizeof list) / 4;
    for (uint32_t i = 0; i < n; i++) {
        show_window(&d, list[i], &t);
        if ((i + 1) % 500 == 0)
            printf("%5u windows, %6lu properties, checksum %08x\n", i + 1, t.properties, t.sum);
    }
    send_request(&d, OP_QUIT, 0, 0);
    waitpid(server, NULL, 0);
    printf("%lu replies, %lu bytes of values, %lu names, %lu numbers, longest \"%s\"\n", d.replies, t.bytes, t.names, t.numbers, t.longest);
    return 0;
}
