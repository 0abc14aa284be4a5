/* geoload: loads a GeoJSON-like file of polygons that is held in memory as one string, computes areas and
 * bounding boxes and prints a summary. */
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct point {
    double x, y;
};

struct shape {
    char name[32];
    struct point *pts;
    size_t count, room;
    double area;
    double min_x, min_y, max_x, max_y;
};

struct layer {
    struct shape *shapes;
    size_t count, room;
};

struct reader {
    const char *p;
    const char *file;
    long line;
};

static void fail(const struct reader *r, const char *what)
{
    fprintf(stderr, "%s:%ld: %s\n", r->file, r->line, what);
    exit(1);
}

static char *slurp(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *s = malloc((size_t)n + 1);
    if (!s || fread(s, 1, (size_t)n, f) != (size_t)n) {
        perror("read");
        exit(1);
    }
    s[n] = 0;
    fclose(f);
    return s;
}

static void skip_space(struct reader *r)
{
    while (isspace((unsigned char)*r->p)) {
        if (*r->p == '\n')
            r->line++;
        r->p++;
    }
}

static int accept(struct reader *r, char c)
{
    skip_space(r);
    if (*r->p != c)
        return 0;
    r->p++;
    return 1;
}

static void expect(struct reader *r, char c)
{
    if (!accept(r, c))
        fail(r, "unexpected character");
}

static double read_number(struct reader *r)
{
    double v;
    skip_space(r);
    char *end;
    v = strtod(r->p, &end);
    if (end == r->p)
        fail(r, "number expected");
    r->p = end;
    return v;
}

static void read_name(struct reader *r, char *out, size_t room)
{
    size_t n = 0;
    expect(r, '"');
    while (*r->p && *r->p != '"') {
        if (n + 1 < room)
            out[n++] = *r->p;
        r->p++;
    }
    out[n] = 0;
    expect(r, '"');
}

static void read_shape(struct reader *r, struct shape *s)
{
    memset(s, 0, sizeof *s);
    expect(r, '{');
    read_name(r, s->name, sizeof s->name);
    expect(r, ':');
    expect(r, '[');
    do {
        if (s->count == s->room) {
            s->room = s->room ? s->room * 2 : 16;
            s->pts = realloc(s->pts, s->room * sizeof *s->pts);
        }
        struct point *p = &s->pts[s->count++];
        expect(r, '[');
        p->x = read_number(r);
        expect(r, ',');
        p->y = read_number(r);
        expect(r, ']');
    } while (accept(r, ','));
    expect(r, ']');
    expect(r, '}');
}

static void measure(struct shape *s)
{
    double a = 0;
    s->min_x = s->max_x = s->pts[0].x;
    s->min_y = s->max_y = s->pts[0].y;
    for (size_t i = 0; i < s->count; i++) {
        const struct point *p = &s->pts[i], *q = &s->pts[(i + 1) % s->count];
        a += p->x * q->y - q->x * p->y;
        s->min_x = fmin(s->min_x, p->x);
        s->max_x = fmax(s->max_x, p->x);
        s->min_y = fmin(s->min_y, p->y);
        s->max_y = fmax(s->max_y, p->y);
    }
    s->area = fabs(a) / 2;
}

static void read_layer(struct reader *r, struct layer *l)
{
    expect(r, '[');
    do {
        if (l->count == l->room) {
            l->room = l->room ? l->room * 2 : 64;
            l->shapes = realloc(l->shapes, l->room * sizeof *l->shapes);
        }
        read_shape(r, &l->shapes[l->count]);
        measure(&l->shapes[l->count++]);
    } while (accept(r, ','));
    expect(r, ']');
}

static int overlaps(const struct shape *a, const struct shape *b)
{
    return a->min_x < b->max_x && b->min_x < a->max_x && a->min_y < b->max_y && b->min_y < a->max_y;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "data/regions.json";
    char *text = slurp(path);
    struct reader r = {text, path, 1};
    struct layer l = {0};
    read_layer(&r, &l);
    size_t points = 0, pairs = 0;
    double total = 0;
    const struct shape *largest = &l.shapes[0];
    for (size_t i = 0; i < l.count; i++) {
        points += l.shapes[i].count;
        total += l.shapes[i].area;
        if (l.shapes[i].area > largest->area)
            largest = &l.shapes[i];
        for (size_t j = i + 1; j < l.count; j++)
            pairs += (size_t)overlaps(&l.shapes[i], &l.shapes[j]);
    }
    printf("shapes %zu, points %zu, lines %ld\n", l.count, points, r.line);
    printf("area %.3f, largest %s (%.3f), overlapping boxes %zu\n", total, largest->name, largest->area, pairs);
    free(text);
    return 0;
}
