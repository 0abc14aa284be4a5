/* Grades a clip: decodes its frames, sends each through a graph of filters (crop marks, curves, blend with a
   watermark), and encodes a checksum of every frame. Frames are passed on by reference. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 4096
#define HEIGHT 2160
#define FRAMES 22
#define MAX_FILTERS 8

typedef struct Buffer {
    uint8_t *data;
    size_t size;
    int refs;
} Buffer;

typedef struct {
    Buffer *buffer;
    int width, height, stride;
    int64_t pts;
} Frame;

typedef struct Filter Filter;
struct Filter {
    const char *name;
    void (*run)(Filter *f, const Frame *in, Frame *out);
    uint8_t table[256];
    int strength;
    uint64_t frames;
};

typedef struct {
    Filter filters[MAX_FILTERS];
    int count;
    uint64_t digest, frames;
    uint64_t histogram[16];
} Graph;

/* ---- buffers ---- */

static Buffer *buffer_alloc(size_t size)
{
    Buffer *b = malloc(sizeof *b);
    if (!b || !(b->data = malloc(size))) {
        fprintf(stderr, "clipgrade: out of memory\n");
        exit(1);
    }
    b->size = size;
    b->refs = 1;
    return b;
}

static void buffer_unref(Buffer *b)
{
    if (--b->refs) return;
    free(b->data);
    free(b);
}

static Buffer *buffer_ref(Buffer *b)
{
    b->refs++;
    return b;
}

static void frame_get_buffer(Frame *f, int width, int height)
{
    f->width = width;
    f->height = height;
    f->stride = width * 4;
    f->buffer = buffer_alloc((size_t)f->stride * height);
}

static void frame_free(Frame *f)
{
    buffer_unref(f->buffer);
    f->buffer = NULL;
}

static uint8_t *frame_row(const Frame *f, int y)
{
    return f->buffer->data + (size_t)y * f->stride;
}

/* ---- decoder ---- */

static void decode_frame(Frame *f, int number)
{
    frame_get_buffer(f, WIDTH, HEIGHT);
    f->pts = number;
    for (int y = 0; y < f->height; y++) {
        uint32_t *row = (uint32_t *)frame_row(f, y);
        uint32_t base = (uint32_t)(y * 3 + number * 5);
        for (int x = 0; x < f->width; x++) row[x] = ((uint32_t)x + base) * 0x01030507u;
    }
}

/* ---- filters ---- */

static void run_curves(Filter *f, const Frame *in, Frame *out)
{
    frame_get_buffer(out, in->width, in->height);
    out->pts = in->pts;
    int gain = 200 + f->strength, lift = f->strength / 4;
    for (int y = 0; y < in->height; y++) {
        const uint8_t *s = frame_row(in, y);
        uint8_t *d = frame_row(out, y);
        for (int x = 0; x < in->stride; x++) d[x] = (uint8_t)((s[x] * gain >> 8) + lift);
    }
}

static void run_blend(Filter *f, const Frame *in, Frame *out)
{
    frame_get_buffer(out, in->width, in->height);
    out->pts = in->pts;
    for (int y = 0; y < in->height; y++) {
        const uint32_t *s = (const uint32_t *)frame_row(in, y);
        uint32_t *d = (uint32_t *)frame_row(out, y);
        uint32_t mark = (f->table[y & 255] >> 2) * 0x01010101u;
        for (int x = 0; x < in->width; x++) d[x] = (s[x] >> 2 & 0x3f3f3f3fu) * 3 + mark;
    }
}

static void run_soften(Filter *f, const Frame *in, Frame *out)
{
    (void)f;
    frame_get_buffer(out, in->width, in->height);
    out->pts = in->pts;
    for (int y = 0; y < in->height; y++) {
        const uint32_t *a = (const uint32_t *)frame_row(in, y ? y - 1 : 0), *b = (const uint32_t *)frame_row(in, y);
        uint32_t *d = (uint32_t *)frame_row(out, y);
        for (int x = 0; x < in->width; x++) d[x] = (a[x] & b[x]) + ((a[x] ^ b[x]) >> 1 & 0x7f7f7f7fu);
    }
}

static void run_marks(Filter *f, const Frame *in, Frame *out)
{
    *out = *in;
    out->buffer = buffer_ref(in->buffer);
    for (int y = 40; y < in->height; y += in->height - 80)
        for (int x = 0; x < f->strength * 4; x++) frame_row(out, y)[x + 160] = 255;
}

static void add_filter(Graph *g, const char *name, void (*run)(Filter *, const Frame *, Frame *), int strength)
{
    Filter *f = &g->filters[g->count++];
    f->name = name;
    f->run = run;
    f->strength = strength;
    for (int i = 0; i < 256; i++) f->table[i] = (uint8_t)(i * strength >> 3);
}

/* ---- encoder ---- */

static void encode_frame(Graph *g, const Frame *f)
{
    uint64_t h = g->digest;
    for (int y = 0; y < f->height; y += 2) {
        const uint8_t *row = frame_row(f, y);
        for (int x = 0; x < f->stride; x += 64) {
            uint64_t v;
            memcpy(&v, row + x, 8);
            h = (h ^ v) * 0x9e3779b97f4a7c15ull;
            g->histogram[row[x] >> 4]++;
        }
    }
    g->digest = h ^ (uint64_t)f->pts;
    g->frames++;
}

static void filter_frame(Graph *g, Frame *f)
{
    for (int i = 0; i < g->count; i++) {
        Frame out;
        g->filters[i].run(&g->filters[i], f, &out);
        g->filters[i].frames++;
        frame_free(f);
        *f = out;
    }
}

int main(void)
{
    static Graph g;
    add_filter(&g, "curves", run_curves, 40);
    add_filter(&g, "soften", run_soften, 0);
    add_filter(&g, "blend", run_blend, 5);
    add_filter(&g, "marks", run_marks, 90);
    add_filter(&g, "curves", run_curves, 12);
    for (int i = 0; i < FRAMES; i++) {
        Frame f;
        decode_frame(&f, i);
        filter_frame(&g, &f);
        encode_frame(&g, &f);
        frame_free(&f);
    }
    for (int i = 0; i < g.count; i++) printf("%-7s %llu frames\n", g.filters[i].name, (unsigned long long)g.filters[i].frames);
    for (int i = 0; i < 16; i++) printf("%llu ", (unsigned long long)g.histogram[i]);
    printf("\n%llu frames, digest %016llx\n", (unsigned long long)g.frames, (unsigned long long)g.digest);
    return 0;
}
