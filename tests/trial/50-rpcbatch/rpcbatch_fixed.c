/* rpcbatch: a client of a small RPC server. Each call is a message of a header and a body over a TCP connection that is kept open. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum op { OP_SUM = 1, OP_SORT = 2, OP_HISTOGRAM = 3 };

struct header {
    uint32_t magic;
    uint16_t op;
    uint16_t flags;
    uint32_t call;
    uint32_t length;
};

struct conn {
    int fd;
    uint32_t calls;
    uint64_t sent, received;
};

#define MAGIC 0x52504331u
#define MAX_BODY 4096

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int write_full(int fd, const void *buf, size_t n)
{
    const char *p = buf;
    while (n) {
        ssize_t k = send(fd, p, n, MSG_NOSIGNAL);
        if (k <= 0)
            return -1;
        p += k;
        n -= (size_t)k;
    }
    return 0;
}

static int read_full(int fd, void *buf, size_t n)
{
    char *p = buf;
    while (n) {
        ssize_t k = recv(fd, p, n, 0);
        if (k <= 0)
            return -1;
        p += k;
        n -= (size_t)k;
    }
    return 0;
}

/* ---- the server */

static int cmp_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static size_t handle(uint16_t op, uint32_t *v, size_t n)
{
    uint32_t h[16] = {0};
    switch (op) {
    case OP_SUM:
        for (size_t i = 1; i < n; i++)
            v[0] += v[i];
        return n ? 1 : 0;
    case OP_SORT:
        qsort(v, n, sizeof *v, cmp_u32);
        return n;
    case OP_HISTOGRAM:
        for (size_t i = 0; i < n; i++)
            h[v[i] >> 28]++;
        memcpy(v, h, sizeof h);
        return 16;
    }
    return 0;
}

static void server_main(int listener)
{
    int fd = accept(listener, NULL, NULL);
    static union {
        struct header h;
        uint32_t words[4 + MAX_BODY / 4 + 16];
    } msg;
    while (read_full(fd, &msg.h, sizeof msg.h) == 0) {
        if (msg.h.magic != MAGIC || msg.h.length > MAX_BODY || read_full(fd, msg.words + 4, msg.h.length))
            break;
        msg.h.length = (uint32_t)(4 * handle(msg.h.op, msg.words + 4, msg.h.length / 4));
        if (write_full(fd, &msg, sizeof msg.h + msg.h.length))
            break;
    }
    close(fd);
    _exit(0);
}

static pid_t start_server(uint16_t *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    int l = socket(AF_INET, SOCK_STREAM, 0);
    if (l < 0 || bind(l, (struct sockaddr *)&a, n) || listen(l, 4) || getsockname(l, (struct sockaddr *)&a, &n))
        die("listen");
    *port = ntohs(a.sin_port);
    pid_t pid = fork();
    if (pid == 0)
        server_main(l);
    close(l);
    return pid;
}

/* ---- the client */

static void rpc_connect(struct conn *c, uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    memset(c, 0, sizeof *c);
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&a, sizeof a))
        die("connect");
}

static int send_request(struct conn *c, const struct header *h, const void *body)
{
    c->sent += sizeof *h + h->length;
    struct iovec v[2] = {{(void *)h, sizeof *h}, {(void *)body, h->length}};
    return writev(c->fd, v, 2) == (ssize_t)(sizeof *h + h->length) ? 0 : -1;
}

static size_t rpc_call(struct conn *c, enum op op, const uint32_t *args, size_t n, uint32_t *out)
{
    struct header h = {MAGIC, (uint16_t)op, 0, ++c->calls, (uint32_t)(n * 4)}, r;
    if (send_request(c, &h, args))
        die("send");
    if (read_full(c->fd, &r, sizeof r) || r.call != h.call || r.length > MAX_BODY || read_full(c->fd, out, r.length))
        die("reply");
    c->received += sizeof r + r.length;
    return r.length / 4;
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

int main(void)
{
    uint16_t port;
    pid_t server = start_server(&port);
    struct conn c;
    uint32_t state = 2463534242u, args[64], out[MAX_BODY / 4 + 16], sums = 0, unsorted = 0, bins[16] = {0};
    rpc_connect(&c, port);
    for (int round = 0; round < 16; round++) {
        size_t n = 8 + (size_t)round * 3 % 50;
        for (size_t i = 0; i < n; i++)
            args[i] = next_random(&state);
        if (rpc_call(&c, OP_SUM, args, n, out) == 1)
            sums = sums * 31 + out[0];
        size_t k = rpc_call(&c, OP_SORT, args, n, out);
        for (size_t i = 1; i < k; i++)
            unsorted += out[i - 1] > out[i];
        k = rpc_call(&c, OP_HISTOGRAM, args, n, out);
        for (size_t i = 0; i < k && i < 16; i++)
            bins[i] += out[i];
    }
    close(c.fd);
    waitpid(server, NULL, 0);
    printf("calls %u, sent %llu, received %llu, sums %08x, unsorted %u\n", c.calls, (unsigned long long)c.sent,
           (unsigned long long)c.received, sums, unsorted);
    for (int i = 0; i < 16; i++)
        printf("%u%c", bins[i], i < 15 ? ' ' : '\n');
    return 0;
}
