/* Frames of the protocol between walapply and targetd: a letter, the length of what follows (4 bytes), the bytes.
   'Q' statement, 'S' sync -> 'C' done (the number of rows) or 'E' error for every statement, 'Z' for the sync. */
#ifndef WIRE_H
#define WIRE_H
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    int fd;
    uint8_t *out; size_t out_used, out_room;
    uint8_t in[65536]; size_t in_start, in_end;
    uint8_t *body; size_t body_room;
} Wire;

static void wire_init(Wire *w, int fd) { memset(w, 0, sizeof *w); w->fd = fd; }

static void wire_put(Wire *w, char letter, const void *body, uint32_t size) {
    if (w->out_used + size + 5 > w->out_room) {
        w->out_room = (w->out_used + size + 5) * 2;
        w->out = realloc(w->out, w->out_room);
        if (!w->out) exit(1);
    }
    uint8_t *p = w->out + w->out_used;
    p[0] = (uint8_t)letter;
    memcpy(p + 1, &size, 4);
    if (size) memcpy(p + 5, body, size);
    w->out_used += size + 5;
}

static int wire_flush(Wire *w) {
    size_t done = 0;
    while (done < w->out_used) {
        ssize_t n = write(w->fd, w->out + done, w->out_used - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -1;
        done += (size_t)n;
    }
    w->out_used = 0;
    return 0;
}

static int wire_read(Wire *w, uint8_t *to, size_t size) {
    while (size) {
        if (w->in_start == w->in_end) {
            ssize_t n = read(w->fd, w->in, sizeof w->in);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return -1;
            w->in_start = 0;
            w->in_end = (size_t)n;
        }
        size_t n = w->in_end - w->in_start;
        if (n > size) n = size;
        memcpy(to, w->in + w->in_start, n);
        w->in_start += n;
        to += n;
        size -= n;
    }
    return 0;
}

/* Reads a frame into w->body (with a 0 behind it). Returns its letter, or -1 at the end. */
static int wire_get(Wire *w, uint32_t *size) {
    uint8_t head[5];
    if (wire_read(w, head, 5) < 0) return -1;
    memcpy(size, head + 1, 4);
    if (*size + 1 > w->body_room) {
        w->body_room = *size * 2 + 64;
        w->body = realloc(w->body, w->body_room);
        if (!w->body) exit(1);
    }
    if (wire_read(w, w->body, *size) < 0) return -1;
    w->body[*size] = 0;
    return head[0];
}
#endif
