/* Plays the recorded inputs of a game in real time: each tick of 1/60 s the inputs that are due are applied, the
   balls are moved and collide through a grid, and the frame is shown (its digest) at the time it is due. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICK_NS 16666667l
#define TICKS 132
#define BALLS 900
#define GRID 48
#define FIELD 960.0
#define RADIUS 6.0

typedef struct { double x, y, vx, vy; int hits; } Ball;
typedef struct { int tick, ball; double push_x, push_y; } Input;

typedef struct {
    Ball balls[BALLS];
    int first[GRID][GRID], next[BALLS];
    Input *inputs;
    int input_count, input_at;
    unsigned long collisions;
    int late;
    uint64_t digest;
    double energy;
} Game;

static uint32_t rng = 34;

static double rnd(void)
{
    rng = rng * 1664525u + 1013904223u;
    return (rng >> 8) / 16777216.0;
}

static void start(Game *g)
{
    for (int i = 0; i < BALLS; i++) {
        Ball *b = &g->balls[i];
        b->x = RADIUS + rnd() * (FIELD - 2 * RADIUS);
        b->y = RADIUS + rnd() * (FIELD - 2 * RADIUS);
        b->vx = (rnd() - 0.5) * 300;
        b->vy = (rnd() - 0.5) * 300;
    }
    g->input_count = TICKS * 3;
    g->inputs = malloc(g->input_count * sizeof *g->inputs);
    for (int i = 0; i < g->input_count; i++)
        g->inputs[i] = (Input){ i / 3, (int)(rnd() * BALLS), (rnd() - 0.5) * 500, (rnd() - 0.5) * 500 };
}

static int cell_of(double v)
{
    int c = (int)(v * GRID / FIELD);
    return c < 0 ? 0 : c >= GRID ? GRID - 1 : c;
}

static void apply_inputs(Game *g, int tick)
{
    while (g->input_at < g->input_count && g->inputs[g->input_at].tick <= tick) {
        const Input *in = &g->inputs[g->input_at++];
        g->balls[in->ball].vx += in->push_x;
        g->balls[in->ball].vy += in->push_y;
    }
}

static void move(Game *g, double dt)
{
    memset(g->first, -1, sizeof g->first);
    for (int i = 0; i < BALLS; i++) {
        Ball *b = &g->balls[i];
        b->vx *= 0.9995;
        b->vy = b->vy * 0.9995 + 90 * dt;
        b->x += b->vx * dt;
        b->y += b->vy * dt;
        if (b->x < RADIUS) { b->x = RADIUS; b->vx = fabs(b->vx); }
        if (b->x > FIELD - RADIUS) { b->x = FIELD - RADIUS; b->vx = -fabs(b->vx); }
        if (b->y < RADIUS) { b->y = RADIUS; b->vy = fabs(b->vy); }
        if (b->y > FIELD - RADIUS) { b->y = FIELD - RADIUS; b->vy = -fabs(b->vy); }
        int cx = cell_of(b->x), cy = cell_of(b->y);
        g->next[i] = g->first[cy][cx];
        g->first[cy][cx] = i;
    }
}

static void collide(Game *g, Ball *a, Ball *b)
{
    double dx = b->x - a->x, dy = b->y - a->y, d2 = dx * dx + dy * dy;
    if (d2 >= 4 * RADIUS * RADIUS || d2 == 0) return;
    double d = sqrt(d2), nx = dx / d, ny = dy / d;
    double rel = (a->vx - b->vx) * nx + (a->vy - b->vy) * ny, gap = (2 * RADIUS - d) / 2;
    a->x -= nx * gap;
    a->y -= ny * gap;
    b->x += nx * gap;
    b->y += ny * gap;
    if (rel <= 0) return;
    a->vx -= rel * nx;
    a->vy -= rel * ny;
    b->vx += rel * nx;
    b->vy += rel * ny;
    a->hits++;
    b->hits++;
    g->collisions++;
}

static void collide_all(Game *g)
{
    for (int cy = 0; cy < GRID; cy++)
        for (int cx = 0; cx < GRID; cx++)
            for (int i = g->first[cy][cx]; i >= 0; i = g->next[i]) {
                for (int j = g->next[i]; j >= 0; j = g->next[j]) collide(g, &g->balls[i], &g->balls[j]);
                static const int near_x[4] = { 1, -1, 0, 1 }, near_y[4] = { 0, 1, 1, 1 };
                for (int n = 0; n < 4; n++) {
                    int x = cx + near_x[n], y = cy + near_y[n];
                    if (x < 0 || x >= GRID || y >= GRID) continue;
                    for (int j = g->first[y][x]; j >= 0; j = g->next[j]) collide(g, &g->balls[i], &g->balls[j]);
                }
            }
}

static void show_frame(Game *g)
{
    g->energy = 0;
    for (int i = 0; i < BALLS; i++) {
        const Ball *b = &g->balls[i];
        int32_t px = (int32_t)(b->x * 4), py = (int32_t)(b->y * 4);
        g->digest = (g->digest ^ (uint32_t)(px << 13 ^ py)) * 1099511628211ull;
        g->energy += b->vx * b->vx + b->vy * b->vy;
    }
}

static void wait_until(Game *g, struct timespec *due)
{
    struct timespec now;
    due->tv_nsec += TICK_NS;
    if (due->tv_nsec >= 1000000000l) {
        due->tv_nsec -= 1000000000l;
        due->tv_sec++;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec > due->tv_sec || (now.tv_sec == due->tv_sec && now.tv_nsec > due->tv_nsec)) g->late++;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL) != 0) {}
}

int main(void)
{
    static Game g;
    struct timespec due;
    g.digest = 14695981039346656037ull;
    start(&g);
    clock_gettime(CLOCK_MONOTONIC, &due);
    for (int tick = 0; tick < TICKS; tick++) {
        apply_inputs(&g, tick);
        for (int sub = 0; sub < 6; sub++) {
            move(&g, 1.0 / 360);
            collide_all(&g);
        }
        wait_until(&g, &due);
        show_frame(&g);
        if (tick % 33 == 0) printf("frame %3d: %lu collisions, energy %.1f\n", tick, g.collisions, g.energy);
    }
    if (g.late > TICKS / 4) fprintf(stderr, "%d frames were late\n", g.late);
    printf("digest %016llx\n", (unsigned long long)g.digest);
    free(g.inputs);
    return 0;
}
