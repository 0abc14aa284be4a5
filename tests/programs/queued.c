// Events that are kept in order of their time: each is put into a linked list by going along it, and the first is taken off. Expect: repeated-scan in
// event_put. With a heap (HEAP, as in queued_heap) nothing is to be found.

#include "support/program.h"

#include <stdio.h>
#include <stdlib.h>

// With more events where one is quick to put, so that there is something to see.
#ifdef HEAP
enum { WAITING = 2000, EVENTS = 8000000 };
#else
enum { WAITING = 2000, EVENTS = 300000 };
#endif

struct event {
    uint64_t time;
    uint64_t source;
    struct event *next;
};

#ifdef HEAP
static struct event *heap[2 * WAITING];
static size_t waiting;

static void event_put(struct event *event)
{
    size_t at = waiting++;
    while (at > 0 && heap[(at - 1) / 2]->time > event->time) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = event;
}

static struct event *event_take(void)
{
    struct event *first = heap[0], *last = heap[--waiting];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < waiting; at = child) {
        if (child + 1 < waiting && heap[child + 1]->time < heap[child]->time)
            child++;
        if (heap[child]->time >= last->time)
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return first;
}
#else
static struct event *queue;

static void event_put(struct event *event)
{
    struct event **at = &queue;
    while (*at && (*at)->time <= event->time)
        at = &(*at)->next;
    event->next = *at;
    *at = event;
}

static struct event *event_take(void)
{
    struct event *first = queue;
    queue = first->next;
    return first;
}
#endif

int main(int argc, char **argv)
{
    size_t events = scaled(EVENTS, argc, argv);
    uint64_t random = 88172645463325252, sum = 0;
    for (size_t i = 0; i < WAITING; i++) {
        struct event *event = allocate(1, sizeof *event);
        *event = (struct event){ .time = next_random(&random) % 1000000, .source = i };
        event_put(event);
    }
    for (size_t i = 0; i < events; i++) {
        struct event *event = event_take();
        sum = sum * 31 + event->source;
        event->time += 1 + next_random(&random) % 1000000;
        event_put(event);
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
