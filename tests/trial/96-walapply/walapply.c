/* Applies the changes that were decoded from the log of a source database to a target database, and keeps the position reached. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include "wire.h"

#define MAX_COLUMNS 8

typedef struct { char *name, *value; } Column;
typedef struct { char kind; unsigned long lsn; char *table; Column columns[MAX_COLUMNS]; int count; } Change;

typedef struct {
    Wire wire;
    unsigned long applied_lsn;     /* all before this is on the target */
    long transactions, inserts, updates, deletes, rows, statements;
    uint64_t digest;
} Apply;

static void fail(const char *what) { fprintf(stderr, "walapply: %s: %s\n", what, errno ? strerror(errno) : "protocol"); exit(1); }

/* ---- reading changes ---- */

static int parse_columns(Change *c, char *p) {
    c->count = 0;
    while (p && *p && c->count < MAX_COLUMNS) {
        char *next = strchr(p, '\t'), *eq;
        if (next) *next++ = 0;
        if (!(eq = strchr(p, '='))) return -1;
        *eq = 0;
        c->columns[c->count].name = p;
        c->columns[c->count++].value = eq + 1;
        p = next;
    }
    return 0;
}

static int parse_change(Change *c, char *line) {
    char *end;
    c->kind = line[0];
    c->lsn = strtoul(line + 2, &end, 16);
    if (*end != ' ') return -1;
    c->table = end + 1;
    if (!(end = strchr(c->table, ' '))) return -1;
    *end = 0;
    return parse_columns(c, end + 1);
}

/* ---- writing statements ---- */

static int is_number(const char *p) {
    if (!*p) return 0;
    for (; *p; p++) if (*p < '0' || *p > '9') return 0;
    return 1;
}

static char *append(char *to, const char *end, const char *text) {
    while (*text && to < end - 1) *to++ = *text++;
    *to = 0;
    return to;
}

static char *append_value(char *to, const char *end, const char *value) {
    if (is_number(value)) return append(to, end, value);
    to = append(to, end, "'");
    for (; *value && to < end - 3; value++) {
        if (*value == '\'') *to++ = '\'';
        *to++ = *value;
    }
    return append(to, end, "'");
}

static const char *column(const Change *c, const char *name) {
    for (int i = 0; i < c->count; i++) if (!strcmp(c->columns[i].name, name)) return c->columns[i].value;
    return "0";
}

static void build_statement(const Change *c, char *sql, size_t room) {
    char *p = sql, *end = sql + room;
    if (c->kind == 'D') {
        snprintf(sql, room, "DELETE FROM %s WHERE id = %s", c->table, column(c, "id"));
        return;
    }
    p = append(append(append(p, end, "UPSERT INTO "), end, c->table), end, " (");
    for (int i = 0; i < c->count; i++) p = append(append(p, end, i ? ", " : ""), end, c->columns[i].name);
    p = append(p, end, ") VALUES (");
    for (int i = 0; i < c->count; i++) p = append_value(append(p, end, i ? ", " : ""), end, c->columns[i].value);
    append(p, end, ")");
}

/* ---- the target ---- */

static void target_connect(Apply *a, int port) {
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0) fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    wire_init(&a->wire, fd);
}

static void read_result(Apply *a) {
    uint32_t size;
    int letter = wire_get(&a->wire, &size);
    if (letter != 'C') { errno = 0; fail(letter == 'E' ? "statement refused" : "read"); }
    a->rows += atol((char *)a->wire.body);
}

static void read_ready(Apply *a) {
    uint32_t size;
    if (wire_get(&a->wire, &size) != 'Z') { errno = 0; fail("sync"); }
}

static void execute_statement(Apply *a, const char *sql) {
    wire_put(&a->wire, 'Q', sql, (uint32_t)strlen(sql));
    wire_put(&a->wire, 'S', NULL, 0);
    if (wire_flush(&a->wire) < 0) fail("write");
    read_result(a);
    read_ready(a);
    a->statements++;
}

/* ---- applying ---- */

static void apply_change(Apply *a, Change *c) {
    char sql[2048];
    build_statement(c, sql, sizeof sql);
    for (const char *p = sql; *p; p++) a->digest = (a->digest ^ (uint8_t)*p) * 0x100000001b3ull;
    execute_statement(a, sql);
    if (c->kind == 'I') a->inserts++; else if (c->kind == 'U') a->updates++; else a->deletes++;
}

static void apply_commit(Apply *a, const char *line) {
    execute_statement(a, "COMMIT");
    const char *lsn = strrchr(line, ' ');
    a->applied_lsn = strtoul(lsn + 1, NULL, 16);
    if (++a->transactions % 20000 == 0) printf("%ld transactions, at %lX\n", a->transactions, a->applied_lsn);
}

static void apply_file(Apply *a, const char *path) {
    char line[4096];
    Change c;
    FILE *f = fopen(path, "r");
    if (!f) fail(path);
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (!strncmp(line, "BEGIN", 5)) execute_statement(a, "BEGIN");
        else if (!strncmp(line, "COMMIT", 6)) apply_commit(a, line);
        else if (parse_change(&c, line) < 0) { errno = EINVAL; fail(line); }
        else apply_change(a, &c);
    }
    fclose(f);
}

static void print_checksum(Apply *a) {
    uint32_t size;
    wire_put(&a->wire, 'Q', "CHECKSUM", 8);
    wire_put(&a->wire, 'S', NULL, 0);
    if (wire_flush(&a->wire) < 0 || wire_get(&a->wire, &size) != 'C') fail("checksum");
    printf("target: %s\n", (char *)a->wire.body);
    read_ready(a);
}

int main(int argc, char **argv) {
    static Apply a;
    if (argc != 3) { fprintf(stderr, "usage: walapply PORT CHANGES\n"); return 2; }
    target_connect(&a, atoi(argv[1]));
    apply_file(&a, argv[2]);
    printf("%ld transactions until %lX: %ld inserts, %ld updates, %ld deletes; %ld statements, %ld rows\n",
           a.transactions, a.applied_lsn, a.inserts, a.updates, a.deletes, a.statements, a.rows);
    printf("digest %016llx\n", (unsigned long long)a.digest);
    print_checksum(&a);
    close(a.wire.fd);
    return 0;
}
