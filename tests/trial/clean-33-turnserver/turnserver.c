/* Plays matches of heaps (a take-away game): the server keeps the board, two players are connected by TCP and get the
   board when it is their turn. Each answers with a move it finds by a search of limited depth. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAPS 5
#define MATCHES 27000
#define MEMO 4096

typedef struct {
    uint8_t kind;                /* 1 board, 2 move, 3 end */
    uint8_t heap, take, depth;
    uint8_t heaps[HEAPS];
    uint8_t last_take;
    uint16_t match;
} Message;

typedef struct {
    struct sockaddr_in addr;
    int number;
    unsigned long nodes, moves;
} Player;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void set_nodelay(int fd)
{
    int one = 1;
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0) fail("TCP_NODELAY");
}

static void put(int fd, const Message *m)
{
    if (send(fd, m, sizeof *m, MSG_NOSIGNAL) != (ssize_t)sizeof *m) fail("send");
}

static int take(int fd, Message *m)
{
    return recv(fd, m, sizeof *m, MSG_WAITALL) == (ssize_t)sizeof *m;
}

/* ---- the search of a player ---- */

typedef struct {
    uint64_t key[MEMO];
    int8_t value[MEMO];
    unsigned long nodes;
} Search;

static uint64_t board_key(const uint8_t h[HEAPS], int last, int depth)
{
    uint8_t s[HEAPS];
    memcpy(s, h, HEAPS);
    for (int i = 1; i < HEAPS; i++)
        for (int j = i; j > 0 && s[j - 1] > s[j]; j--) {
            uint8_t t = s[j];
            s[j] = s[j - 1];
            s[j - 1] = t;
        }
    uint64_t k = 1;
    for (int i = 0; i < HEAPS; i++) k = k << 6 | s[i];
    return k << 12 | (uint64_t)last << 6 | (uint64_t)depth;
}

static int evaluate(const uint8_t h[HEAPS], int last)
{
    int x = 0, n = 0;
    for (int i = 0; i < HEAPS; i++) {
        x ^= h[i];
        n += h[i];
    }
    return (x ? 3 : -3) + (n % (last + 2) == 0 ? -1 : 1);
}

/* a move takes 1 to 3 stones of one heap, but not as many as the move before */
static int search(Search *s, uint8_t h[HEAPS], int last, int depth, int alpha, int beta)
{
    int any = 0, best = -100;
    s->nodes++;
    if (depth == 0) return evaluate(h, last);
    uint64_t k = board_key(h, last, depth);
    uint32_t slot = (uint32_t)(k * 0x9e3779b97f4a7c15ull >> 52) % MEMO;
    if (s->key[slot] == k) return s->value[slot];
    for (int i = 0; i < HEAPS && best < beta; i++)
        for (int t = 1; t <= 3 && t <= h[i]; t++) {
            if (t == last) continue;
            any = 1;
            h[i] -= (uint8_t)t;
            int v = -search(s, h, t, depth - 1, -beta, -(alpha > best ? alpha : best));
            h[i] += (uint8_t)t;
            if (v > best) best = v;
            if (best >= beta) break;
        }
    if (!any) return -50;
    if (best > alpha && best < beta) {
        s->key[slot] = k;
        s->value[slot] = (int8_t)best;
    }
    return best;
}

static void choose(Search *s, Message *m)
{
    int best = -1000;
    for (int i = 0; i < HEAPS; i++)
        for (int t = 1; t <= 3 && t <= m->heaps[i]; t++) {
            if (t == m->last_take) continue;
            m->heaps[i] -= (uint8_t)t;
            int v = -search(s, m->heaps, t, m->depth, -100, best > -100 ? -best : 100);
            m->heaps[i] += (uint8_t)t;
            if (v > best) {
                best = v;
                m->heap = (uint8_t)i;
                m->take = (uint8_t)t;
            }
        }
    if (best == -1000) m->take = 0;
}

static void *play(void *arg)
{
    Player *p = arg;
    Search *s = calloc(1, sizeof *s);
    Message m;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&p->addr, sizeof p->addr) < 0) fail("connect");
    set_nodelay(fd);
    while (take(fd, &m) && m.kind == 1) {
        choose(s, &m);
        m.kind = 2;
        put(fd, &m);
        p->moves++;
    }
    p->nodes = s->nodes;
    free(s);
    close(fd);
    return NULL;
}

/* ---- the server ---- */

static int listen_loopback(struct sockaddr_in *a)
{
    socklen_t len = sizeof *a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    memset(a, 0, sizeof *a);
    a->sin_family = AF_INET;
    a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)a, sizeof *a) < 0 || listen(fd, 4) < 0) fail("listen");
    getsockname(fd, (struct sockaddr *)a, &len);
    return fd;
}

static int play_match(const int fds[2], int match, uint64_t *digest)
{
    Message m = { .kind = 1, .match = (uint16_t)match };
    uint32_t r = (uint32_t)match * 2654435761u ^ (uint32_t)(*digest >> 13);      /* the last match decides how the next one starts */
    int turn = match & 1;
    for (int i = 0; i < HEAPS; i++) {
        r = r * 1664525u + 1013904223u;
        m.heaps[i] = (uint8_t)(2 + (r >> 24) % 6);
    }
    for (;;) {
        m.kind = 1;
        m.depth = (uint8_t)(1 + (turn ^ (match >> 1 & 1)));
        put(fds[turn], &m);
        Message answer;
        if (!take(fds[turn], &answer)) fail("player left");
        if (answer.take == 0) return !turn;             /* who cannot move has lost */
        if (answer.heap >= HEAPS || answer.take > m.heaps[answer.heap] || answer.take == m.last_take) return !turn;
        m.heaps[answer.heap] -= answer.take;
        m.last_take = answer.take;
        *digest = (*digest ^ (uint64_t)(answer.heap << 4 | answer.take)) * 1099511628211ull;
        turn = !turn;
    }
}

/* only one of the three has something to do at a time, so they stay on one processor */
static void share_cpu(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    sched_setaffinity(0, sizeof set, &set);
}

int main(void)
{
    struct sockaddr_in a;
    Player players[2] = { { .number = 0 }, { .number = 1 } };
    pthread_t threads[2];
    int fds[2], wins[2] = { 0 };
    uint64_t digest = 14695981039346656037ull;
    share_cpu();
    int fd = listen_loopback(&a);
    for (int i = 0; i < 2; i++) {
        players[i].addr = a;
        pthread_create(&threads[i], NULL, play, &players[i]);
        fds[i] = accept(fd, NULL, NULL);
        if (fds[i] < 0) fail("accept");
        set_nodelay(fds[i]);
    }
    for (int m = 0; m < MATCHES; m++) wins[play_match(fds, m, &digest)]++;
    for (int i = 0; i < 2; i++) {
        Message end = { .kind = 3 };
        put(fds[i], &end);
        pthread_join(threads[i], NULL);
        close(fds[i]);
        printf("player %d: %d wins, %lu moves, %lu nodes\n", i, wins[i], players[i].moves, players[i].nodes);
    }
    close(fd);
    printf("moves digest %016llx\n", (unsigned long long)digest);
    return 0;
}
