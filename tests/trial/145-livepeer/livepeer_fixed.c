/* livepeer - a trace viewer's live session: a relay process serves packets of
 * trace events over TCP, the viewer attaches, asks for them and decodes them. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define NSTREAMS 6
#define PACKETS 3
#define EVENTS 20000

enum { CMD_CONNECT = 1, CMD_ATTACH, CMD_NEXT_INDEX, CMD_GET_PACKET, CMD_BYE };

struct cmd_header {
    uint64_t data_size;
    uint32_t cmd;
    uint32_t version;
};

struct packet_request {
    uint64_t stream_id;
    uint64_t offset;
};

struct reply_header {
    uint32_t status;
    uint32_t length;
};

struct event {
    uint64_t stamp;
    uint32_t id;
    uint32_t cpu;
};

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static int send_all(int fd, const void *buf, size_t n)
{
    const char *p = buf;
    while (n) {
        ssize_t w = send(fd, p, n, MSG_NOSIGNAL);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return -1;
        p += w;
        n -= (size_t)w;
    }
    return 0;
}

static int recv_all(int fd, void *buf, size_t n)
{
    char *p = buf;
    while (n) {
        ssize_t r = recv(fd, p, n, 0);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            return -1;
        p += r;
        n -= (size_t)r;
    }
    return 0;
}

/* --- relay --------------------------------------------------------------- */

static uint32_t fill_packet(struct event *ev, uint64_t stream, uint64_t index)
{
    uint64_t s = stream * 1000003 + index * 7919 + 17, stamp = index * 1000000;
    for (int i = 0; i < EVENTS; i++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        stamp += s % 900;
        ev[i].stamp = stamp;
        ev[i].id = (uint32_t)(s >> 20) % 40;
        ev[i].cpu = (uint32_t)stream;
    }
    return EVENTS * (uint32_t)sizeof *ev;
}

static int serve_command(int fd, const struct cmd_header *h, const void *payload, char *out)
{
    struct reply_header *r = (struct reply_header *)out;
    const struct packet_request *q = payload;
    r->status = 0;
    r->length = 0;
    switch (h->cmd) {
    case CMD_CONNECT:
    case CMD_ATTACH:
        break;
    case CMD_NEXT_INDEX:
        r->status = q->offset < PACKETS ? 0 : 1;
        break;
    case CMD_GET_PACKET:
        r->length = fill_packet((struct event *)(r + 1), q->stream_id, q->offset);
        break;
    default:
        r->status = 2;
    }
    return send_all(fd, out, sizeof *r + r->length);
}

static void run_relay(int listener)
{
    int fd = accept(listener, NULL, NULL);
    struct cmd_header h;
    char payload[256];
    char *out = malloc(sizeof(struct reply_header) + EVENTS * sizeof(struct event));
    int one = 1;
    if (fd < 0 || !out)
        _exit(1);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    while (recv_all(fd, &h, sizeof h) == 0) {
        if (h.data_size > sizeof payload || recv_all(fd, payload, h.data_size) != 0)
            break;
        if (serve_command(fd, &h, payload, out) != 0 || h.cmd == CMD_BYE)
            break;
    }
    close(fd);
    _exit(0);
}

/* --- viewer -------------------------------------------------------------- */

static int send_command(int fd, uint32_t cmd, const void *data, size_t n)
{
    struct cmd_header h = { n, cmd, 2 };
    char buf[sizeof h + 256];
    if (n > sizeof buf - sizeof h)
        return -1;
    memcpy(buf, &h, sizeof h);
    if (n)
        memcpy(buf + sizeof h, data, n);
    return send_all(fd, buf, sizeof h + n);
}

static int read_reply(int fd, struct reply_header *r, void *buf, size_t cap)
{
    if (recv_all(fd, r, sizeof *r) != 0 || r->length > cap)
        return -1;
    return r->length ? recv_all(fd, buf, r->length) : 0;
}

static int next_index(int fd, uint64_t stream, uint64_t at)
{
    struct packet_request q = { stream, at };
    struct reply_header r;
    if (send_command(fd, CMD_NEXT_INDEX, &q, sizeof q) != 0 || read_reply(fd, &r, NULL, 0) != 0)
        fail("next index");
    return r.status == 0;
}

static size_t get_packet(int fd, uint64_t stream, uint64_t at, struct event *ev)
{
    struct packet_request q = { stream, at };
    struct reply_header r;
    if (send_command(fd, CMD_GET_PACKET, &q, sizeof q) != 0 ||
        read_reply(fd, &r, ev, EVENTS * sizeof *ev) != 0)
        fail("get packet");
    return r.length / sizeof *ev;
}

static void attach(int fd, const char *session)
{
    struct reply_header r;
    char name[64] = "";
    snprintf(name, sizeof name, "%s", session);
    if (send_command(fd, CMD_CONNECT, NULL, 0) != 0 || read_reply(fd, &r, NULL, 0) != 0)
        fail("connect");
    if (send_command(fd, CMD_ATTACH, name, sizeof name) != 0 || read_reply(fd, &r, NULL, 0) != 0)
        fail("attach");
}

static void decode(const struct event *ev, size_t n, uint64_t *counts, uint64_t *gap)
{
    for (size_t i = 0; i < n; i++) {
        counts[ev[i].id]++;
        if (i && ev[i].stamp - ev[i - 1].stamp > *gap)
            *gap = ev[i].stamp - ev[i - 1].stamp;
    }
}

int main(void)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof a;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(listener, 4) != 0 ||
        getsockname(listener, (struct sockaddr *)&a, &len) != 0)
        fail("listen");
    pid_t pid = fork();
    if (pid == 0)
        run_relay(listener);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0)
        fail("connect");
    attach(fd, "host/kernel-session");

    static uint64_t counts[40];
    uint64_t gap = 0, total = 0;
    struct event *ev = malloc(EVENTS * sizeof *ev);
    int live = NSTREAMS;
    for (uint64_t at = 0; live; at++) {
        live = 0;
        for (uint64_t s = 0; s < NSTREAMS; s++) {
            if (!next_index(fd, s, at))
                continue;
            size_t n = get_packet(fd, s, at, ev);
            decode(ev, n, counts, &gap);
            total += n;
            live++;
        }
    }
    send_command(fd, CMD_BYE, NULL, 0);
    close(fd);
    waitpid(pid, NULL, 0);
    printf("%llu events, longest gap %llu ns\n", (unsigned long long)total, (unsigned long long)gap);
    for (int i = 0; i < 40; i++)
        printf("event %2d: %llu\n", i, (unsigned long long)counts[i]);
    return 0;
}
