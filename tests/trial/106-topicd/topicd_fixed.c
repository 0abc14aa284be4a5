/* A message broker with its clients: some thousand subscribers that are connected and mostly silent, and a few
   gateways that publish readings and wait for the acknowledgement. Prints what was routed. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLIENTS 3500
#define GATEWAYS 4
#define MESSAGES 2800            /* by each gateway */
#define TOPICS 64

enum { PUBLISH = 1, ACK = 2, BYE = 3 };

typedef struct {
    uint8_t type, topic;
    uint16_t length;
    uint32_t id;
    char payload[40];
} Packet;

typedef struct {
    int fd;
    int topics[4], topic_count;
    unsigned long received, delivered;
    uint32_t last_id;
} Client;

typedef struct {
    double sum, min, max;
    unsigned long count;
    char retained[40];
} Topic;

typedef struct {
    Client clients[CLIENTS];
    int remote[CLIENTS];
    int count, alive, gateways_left;
    Topic topics[TOPICS];
    int *subscribers[TOPICS], subscriber_count[TOPICS];
    int epoll;
    struct epoll_event events[64];
    unsigned long wakeups;
} Broker;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void subscribe(Broker *b, int client, int topic)
{
    int n = b->subscriber_count[topic];
    if ((n & (n - 1)) == 0) b->subscribers[topic] = realloc(b->subscribers[topic], (n ? n * 2 : 1) * sizeof(int));
    b->subscribers[topic][n] = client;
    b->subscriber_count[topic]++;
    Client *c = &b->clients[client];
    c->topics[c->topic_count++] = topic;
}

static void watch(Broker *b, int index)
{
    struct epoll_event e = { .events = EPOLLIN, .data.u32 = (uint32_t)index };
    if (epoll_ctl(b->epoll, EPOLL_CTL_ADD, b->clients[index].fd, &e) < 0) fail("epoll_ctl");
}

static void unwatch(Broker *b, int index)
{
    epoll_ctl(b->epoll, EPOLL_CTL_DEL, b->clients[index].fd, NULL);
}

static void accept_clients(Broker *b)
{
    uint32_t seed = 77;
    for (int i = 0; i < CLIENTS; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0) fail("socketpair");
        Client *c = &b->clients[i];
        c->fd = pair[0];
        b->remote[i] = pair[1];
        fcntl(c->fd, F_SETFL, O_NONBLOCK);
        watch(b, i);
        b->count++;
        b->alive++;
        if (i < GATEWAYS) continue;
        for (int k = 0; k < 2; k++) {
            seed = seed * 1664525 + 1013904223;
            subscribe(b, i, (int)(seed >> 20) % TOPICS);
        }
    }
    b->gateways_left = GATEWAYS;
}

/* ---- a gateway, in a process of its own ---- */

static void run_gateway(int fd, int number)
{
    uint32_t seed = 1000 + (uint32_t)number;
    for (uint32_t id = 1; id <= MESSAGES; id++) {
        Packet p = { .type = PUBLISH, .id = id }, answer;
        seed = seed * 1664525 + 1013904223;
        p.topic = (uint8_t)((seed >> 18) % TOPICS);
        p.length = (uint16_t)snprintf(p.payload, sizeof p.payload, "%d.%02d C", (int)(seed >> 27) - 4, (int)(seed >> 10) % 100);
        if (send(fd, &p, sizeof p, 0) < 0) fail("send");
        if (recv(fd, &answer, sizeof answer, 0) < 8 || answer.type != ACK || answer.id != id) _exit(3);
    }
    Packet bye = { .type = BYE };
    send(fd, &bye, sizeof bye, 0);
    _exit(0);
}

/* ---- routing ---- */

static int parse_reading(const Packet *p, double *value)
{
    char text[41], *end;
    memcpy(text, p->payload, 40);
    text[p->length < 40 ? p->length : 40] = 0;
    *value = strtod(text, &end);
    return end != text && strcmp(end, " C") == 0;
}

static void route(Broker *b, const Packet *p)
{
    Topic *t = &b->topics[p->topic % TOPICS];
    double v;
    if (parse_reading(p, &v)) {
        if (!t->count || v < t->min) t->min = v;
        if (!t->count || v > t->max) t->max = v;
        t->sum += v;
        t->count++;
    }
    memcpy(t->retained, p->payload, sizeof t->retained);
    for (int i = 0; i < b->subscriber_count[p->topic % TOPICS]; i++) {
        Client *c = &b->clients[b->subscribers[p->topic % TOPICS][i]];
        c->delivered++;                       /* the queue of a client that sleeps keeps only the last one */
        c->last_id = p->id;
    }
}

static void serve_client(Broker *b, int index)
{
    Client *c = &b->clients[index];
    Packet p;
    ssize_t n = recv(c->fd, &p, sizeof p, 0);
    if (n <= 0) {
        if (n < 0 && errno == EAGAIN) return;
        fail("recv");
    }
    c->received++;
    if (p.type == PUBLISH) {
        route(b, &p);
        Packet ack = { .type = ACK, .id = p.id };
        if (send(c->fd, &ack, 8, 0) < 0) fail("ack");
    } else if (p.type == BYE) {
        unwatch(b, index);
        b->alive--;
        b->gateways_left--;
    }
}

static void wait_events(Broker *b)
{
    int n = epoll_wait(b->epoll, b->events, 64, -1);
    if (n < 0) fail("epoll_wait");
    b->wakeups++;
    for (int i = 0; i < n; i++) serve_client(b, (int)b->events[i].data.u32);
}

static void broker_loop(Broker *b)
{
    while (b->gateways_left > 0)
        wait_events(b);
}

static void report(const Broker *b)
{
    unsigned long delivered = 0, received = 0, busiest = 0;
    for (int i = 0; i < b->count; i++) {
        delivered += b->clients[i].delivered;
        received += b->clients[i].received;
        if (b->clients[i].delivered > busiest) busiest = b->clients[i].delivered;
    }
    for (int t = 0; t < TOPICS; t += 9)
        printf("topic %2d: %lu readings, %.2f .. %.2f, mean %.3f, %d subscribers\n", t, b->topics[t].count, b->topics[t].min,
               b->topics[t].max, b->topics[t].sum / b->topics[t].count, b->subscriber_count[t]);
    printf("received %lu, delivered %lu, busiest %lu, still connected %d\n", received, delivered, busiest, b->alive);
}

int main(void)
{
    static Broker b;
    struct rlimit lim;
    pid_t pids[GATEWAYS];
    getrlimit(RLIMIT_NOFILE, &lim);
    lim.rlim_cur = lim.rlim_max;
    setrlimit(RLIMIT_NOFILE, &lim);
    b.epoll = epoll_create1(0);
    accept_clients(&b);
    for (int i = 0; i < GATEWAYS; i++)
        if ((pids[i] = fork()) == 0) run_gateway(b.remote[i], i);
    broker_loop(&b);
    for (int i = 0; i < GATEWAYS; i++) waitpid(pids[i], NULL, 0);
    report(&b);
    return 0;
}
