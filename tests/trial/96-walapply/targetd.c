/* The target database: understands INSERT, UPDATE and DELETE of rows with an id, keeps them in memory, and answers "CHECKSUM". */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include "wire.h"

#define BUCKETS 16384
typedef struct Row { struct Row *next; char table[24]; long id, amount; uint64_t note; char state[8]; } Row;
static Row *buckets[BUCKETS];
static long rows;

static uint64_t hash_bytes(const char *p, size_t n, uint64_t h) {
    while (n--) h = (h ^ (uint8_t)*p++) * 0x100000001b3ull;
    return h;
}

static Row **find_row(const char *table, long id) {
    Row **r = &buckets[hash_bytes(table, strlen(table), (uint64_t)id * 0x9E3779B97F4A7C15ull) % BUCKETS];
    while (*r && ((*r)->id != id || strcmp((*r)->table, table))) r = &(*r)->next;
    return r;
}

/* reads a value: a number or a quoted text, in which '' stands for ' */
static const char *read_value(const char *p, char *out, size_t room) {
    size_t n = 0;
    if (*p == '\'') {
        for (p++; *p && !(*p == '\'' && p[1] != '\''); p++) {
            if (*p == '\'') p++;
            if (n < room - 1) out[n++] = *p;
        }
        if (*p) p++;
    } else {
        while (*p && *p != ',' && *p != ')' && *p != ' ') { if (n < room - 1) out[n++] = *p; p++; }
    }
    out[n] = 0;
    return p;
}

static long upsert(const char *table, long id, const char *amount, const char *note, const char *state) {
    Row **slot = find_row(table, id);
    if (!*slot) {
        *slot = calloc(1, sizeof **slot);
        snprintf((*slot)->table, sizeof (*slot)->table, "%s", table);
        (*slot)->id = id;
        rows++;
    }
    (*slot)->amount = atol(amount);
    (*slot)->note = hash_bytes(note, strlen(note), 0xcbf29ce484222325ull);
    snprintf((*slot)->state, sizeof (*slot)->state, "%s", state);
    return 1;
}

static long execute(const char *sql) {
    char table[24], value[4][256];
    long id;
    const char *p;
    if (sscanf(sql, "DELETE FROM %23s WHERE id = %ld", table, &id) == 2) {
        Row **slot = find_row(table, id), *gone = *slot;
        if (!gone) return 0;
        *slot = gone->next;
        free(gone);
        rows--;
        return 1;
    }
    if (sscanf(sql, "UPSERT INTO %23s", table) == 1 && (p = strstr(sql, "VALUES ("))) {
        p += 8;
        for (int i = 0; i < 4; i++) {
            p = read_value(p, value[i], sizeof value[i]);
            while (*p == ',' || *p == ' ') p++;
        }
        return upsert(table, atol(value[0]), value[1], value[2], value[3]);
    }
    return strncmp(sql, "BEGIN", 5) && strncmp(sql, "COMMIT", 6) ? -1 : 0;
}

static uint64_t checksum(void) {
    uint64_t sum = (uint64_t)rows;
    for (int b = 0; b < BUCKETS; b++)
        for (Row *r = buckets[b]; r; r = r->next)
            sum += hash_bytes(r->table, strlen(r->table), r->note ^ (uint64_t)r->id * 31 ^ (uint64_t)r->amount << 20) + (uint8_t)r->state[0];
    return sum;
}

static void serve(Wire *w) {
    uint32_t size;
    int letter;
    char text[64];
    while ((letter = wire_get(w, &size)) >= 0) {
        if (letter == 'S') {
            wire_put(w, 'Z', NULL, 0);
            if (wire_flush(w) < 0) return;
        } else if (!strcmp((char *)w->body, "CHECKSUM")) {
            wire_put(w, 'C', text, (uint32_t)snprintf(text, sizeof text, "%ld rows, %016llx", rows, (unsigned long long)checksum()));
        } else {
            long n = execute((char *)w->body);
            wire_put(w, n < 0 ? 'E' : 'C', text, (uint32_t)snprintf(text, sizeof text, "%ld", n));
        }
    }
}

int main(void) {
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof a;
    int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    static Wire w;
    if (bind(s, (struct sockaddr *)&a, sizeof a) < 0 || listen(s, 8) < 0 || getsockname(s, (struct sockaddr *)&a, &n) < 0) return 1;
    printf("%d\n", ntohs(a.sin_port));
    fclose(stdout);
    for (;;) {
        int c = accept(s, NULL, NULL);
        if (c < 0) return 1;
        setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        wire_init(&w, c);
        serve(&w);
        close(c);
    }
}
