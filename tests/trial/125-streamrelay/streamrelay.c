/* A relay between a source of live packets and its viewers. The source (a child process) sends a packet every few
   milliseconds, the relay keeps a queue for each viewer and writes as much as the viewer's socket takes. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VIEWERS 3
#define PACKETS 260
#define PACKET_MS 8
#define CHUNK 16384

typedef struct {
    uint32_t length, number;
} Header;

typedef struct {
    char *data;
    size_t start, used, room;
} Queue;

typedef struct {
    int fd, id;
    Queue out;
    uint32_t interest;
    uint64_t written, packets, full;
} Viewer;

typedef struct {
    int epoll, source;
    Viewer viewers[VIEWERS];
    int alive;
    char in[2 * CHUNK + sizeof(Header)];
    size_t in_used;
    uint64_t packets, bytes, digest;
    int finished;
} Relay;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- queue ---- */

static void queue_put(Queue *q, const void *data, size_t n)
{
    if (q->start && q->start == q->used) q->start = q->used = 0;
    if (q->used + n > q->room) {
        memmove(q->data, q->data + q->start, q->used - q->start);
        q->used -= q->start;
        q->start = 0;
        while (q->used + n > q->room) q->room = q->room ? q->room * 2 : 65536;
        q->data = realloc(q->data, q->room);
        if (!q->data) fail("queue");
    }
    memcpy(q->data + q->used, data, n);
    q->used += n;
}

static size_t queue_size(const Queue *q)
{
    return q->used - q->start;
}

/* ---- viewers ---- */

static void set_interest(Relay *r, Viewer *v, uint32_t events)
{
    struct epoll_event e = { .events = events, .data.u32 = (uint32_t)v->id };
    if (v->interest == events) return;
    if (epoll_ctl(r->epoll, v->interest ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, v->fd, &e) < 0) fail("epoll_ctl");
    v->interest = events;
}

static void drop_viewer(Relay *r, Viewer *v)
{
    epoll_ctl(r->epoll, EPOLL_CTL_DEL, v->fd, NULL);
    close(v->fd);
    v->fd = -1;
    r->alive--;
}

static void flush_viewer(Relay *r, Viewer *v)
{
    while (queue_size(&v->out)) {
        ssize_t n = send(v->fd, v->out.data + v->out.start, queue_size(&v->out), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN) {
            v->full++;
            set_interest(r, v, EPOLLIN | EPOLLOUT);
            return;
        }
        if (n < 0) { drop_viewer(r, v); return; }
        v->out.start += (size_t)n;
        v->written += (uint64_t)n;
    }
    if (r->finished) drop_viewer(r, v);
}

static void viewer_input(Relay *r, Viewer *v)
{
    char note[64];
    ssize_t n = recv(v->fd, note, sizeof note, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN)) drop_viewer(r, v);
}

/* ---- the source ---- */

static void spread_packet(Relay *r, const Header *h, const char *body)
{
    for (uint32_t i = 0; i < h->length; i += 8) r->digest = (r->digest ^ (uint8_t)body[i]) * 1099511628211ull;
    r->packets++;
    r->bytes += h->length;
    for (int i = 0; i < VIEWERS; i++) {
        Viewer *v = &r->viewers[i];
        if (v->fd < 0) continue;
        queue_put(&v->out, h, sizeof *h);
        queue_put(&v->out, body, h->length);
        v->packets++;
        flush_viewer(r, v);
    }
}

static void source_input(Relay *r)
{
    ssize_t n = read(r->source, r->in + r->in_used, sizeof r->in - r->in_used);
    if (n < 0) fail("source");
    if (n == 0) {
        r->finished = 1;
        epoll_ctl(r->epoll, EPOLL_CTL_DEL, r->source, NULL);
        for (int i = 0; i < VIEWERS; i++)
            if (r->viewers[i].fd >= 0) flush_viewer(r, &r->viewers[i]);
        return;
    }
    r->in_used += (size_t)n;
    size_t at = 0;
    while (r->in_used - at >= sizeof(Header)) {
        Header h;
        memcpy(&h, r->in + at, sizeof h);
        if (r->in_used - at < sizeof h + h.length) break;
        spread_packet(r, &h, r->in + at + sizeof h);
        at += sizeof h + h.length;
    }
    memmove(r->in, r->in + at, r->in_used - at);
    r->in_used -= at;
}

static void relay_loop(Relay *r)
{
    struct epoll_event events[16];
    while (r->alive) {
        int n = epoll_wait(r->epoll, events, 16, -1);
        if (n < 0 && errno != EINTR) fail("epoll_wait");
        for (int i = 0; i < n; i++) {
            if (events[i].data.u32 == VIEWERS) { source_input(r); continue; }
            Viewer *v = &r->viewers[events[i].data.u32];
            if (v->fd >= 0 && events[i].events & EPOLLIN) viewer_input(r, v);
            if (v->fd >= 0 && events[i].events & EPOLLOUT) flush_viewer(r, v);
        }
    }
}

/* ---- the other ends ---- */

static void run_source(int fd)
{
    static char packet[sizeof(Header) + CHUNK];
    struct timespec pause = { 0, PACKET_MS * 1000000 };
    uint32_t seed = 9;
    for (uint32_t i = 0; i < PACKETS; i++) {
        seed = seed * 1664525 + 1013904223;
        Header h = { i % 40 ? 900 + (seed >> 16) % 3000 : CHUNK, i };
        memcpy(packet, &h, sizeof h);
        for (uint32_t k = 0; k < h.length; k++) packet[sizeof h + k] = (char)(seed >> 8 ^ k * 7);
        if (write(fd, packet, sizeof h + h.length) < 0) _exit(1);
        nanosleep(&pause, NULL);
    }
    _exit(0);
}

static void run_viewer(int fd, int id)
{
    static char buffer[4096];
    ssize_t n;
    struct timespec start_up = { 0, 300000000 + id * 100000000 };
    nanosleep(&start_up, NULL);
    while ((n = read(fd, buffer, sizeof buffer)) > 0) { }
    _exit(0);
}

static pid_t start(Relay *r, int viewer, int *mine)
{
    int pair[2], small = 16384;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) fail("socketpair");
    if (viewer >= 0) setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) {
        close(pair[0]);
        for (int i = 0; i < viewer; i++) close(r->viewers[i].fd);
        if (viewer < 0) {
            for (int i = 0; i < VIEWERS; i++) close(r->viewers[i].fd);
            run_source(pair[1]);
        }
        run_viewer(pair[1], viewer);
    }
    close(pair[1]);
    *mine = pair[0];
    return pid;
}

int main(void)
{
    static Relay r;
    struct epoll_event e = { .events = EPOLLIN, .data.u32 = VIEWERS };
    r.epoll = epoll_create1(EPOLL_CLOEXEC);
    r.digest = 1469598103934665603ull;
    for (int i = 0; i < VIEWERS; i++) {
        r.viewers[i].id = i;
        start(&r, i, &r.viewers[i].fd);
        set_interest(&r, &r.viewers[i], EPOLLIN);
        r.alive++;
    }
    start(&r, -1, &r.source);
    if (epoll_ctl(r.epoll, EPOLL_CTL_ADD, r.source, &e) < 0) fail("epoll_ctl");
    relay_loop(&r);
    while (wait(NULL) > 0) { }
    printf("packets %llu, bytes %llu, digest %016llx\n", (unsigned long long)r.packets, (unsigned long long)r.bytes,
           (unsigned long long)r.digest);
    for (int i = 0; i < VIEWERS; i++)
        printf("viewer %d: %llu packets, %llu bytes\n", i, (unsigned long long)r.viewers[i].packets,
               (unsigned long long)r.viewers[i].written);
    return 0;
}
