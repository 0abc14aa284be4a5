/* Makes an elevation profile of tiles in the order in which a track visits them: each tile is somewhere else in the file,
   is wanted once, and has to be read, unpacked and summed up from differences. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define SIDE 128
#define CELLS (SIDE * SIDE)

typedef struct {
    uint64_t offset;
    uint32_t length, flags;
} TileEntry;

typedef struct {
    int fd;
    TileEntry *entries;
    size_t count;
    uint8_t *packed;
    size_t packed_room;
    uint8_t raw[CELLS + 4];
    z_stream z;
} Archive;

typedef struct {
    uint64_t tiles, bytes, digest, slopes[8];
    int32_t lowest, highest;
    double climb;
} Profile;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void archive_open(Archive *a)
{
    FILE *f = fopen("data/tiles.idx", "rb");
    if (!f) fail("tiles.idx");
    fseek(f, 0, SEEK_END);
    a->count = (size_t)ftell(f) / sizeof *a->entries;
    rewind(f);
    a->entries = malloc(a->count * sizeof *a->entries);
    if (fread(a->entries, sizeof *a->entries, a->count, f) != a->count) fail("tiles.idx");
    fclose(f);
    a->fd = open("data/tiles.bin", O_RDONLY | O_CLOEXEC);
    if (a->fd < 0) fail("tiles.bin");
    if (inflateInit(&a->z) != Z_OK) fail("inflate");
}

static void archive_read(Archive *a, size_t tile)
{
    const TileEntry *e = &a->entries[tile];
    if (e->length > a->packed_room) {
        a->packed_room = e->length * 2;
        a->packed = realloc(a->packed, a->packed_room);
        if (!a->packed) fail("tile");
    }
    if (pread(a->fd, a->packed, e->length, (off_t)e->offset) != (ssize_t)e->length) fail("pread");
    inflateReset(&a->z);
    a->z.next_in = a->packed;
    a->z.avail_in = e->length;
    a->z.next_out = a->raw;
    a->z.avail_out = sizeof a->raw;
    if (inflate(&a->z, Z_FINISH) != Z_STREAM_END) fail("unpack");
}

/* Heights are kept as differences to the cells on the left and above. */
static void restore_heights(const uint8_t *raw, int32_t *heights)
{
    int32_t base = raw[0] | raw[1] << 8, step = raw[2] | raw[3] << 8;
    const uint8_t *d = raw + 4;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            int32_t left = x ? heights[y * SIDE + x - 1] : base, up = y ? heights[(y - 1) * SIDE + x] : base;
            heights[y * SIDE + x] = (left + up) / 2 + (d[y * SIDE + x] - 3) * step;
        }
}

static void add_tile(Profile *p, const int32_t *h)
{
    for (int y = 1; y + 1 < SIDE; y++)
        for (int x = 1; x + 1 < SIDE; x++) {
            const int32_t *c = h + y * SIDE + x;
            int32_t dx = c[1] - c[-1], dy = c[SIDE] - c[-SIDE];
            uint32_t slope = (uint32_t)(dx * dx + dy * dy);
            p->slopes[slope ? 7 - (__builtin_clz(slope) >> 2) : 0]++;
            if (*c < p->lowest) p->lowest = *c;
            if (*c > p->highest) p->highest = *c;
        }
    for (int i = 1; i < SIDE; i++) {
        int32_t rise = h[i * SIDE + i] - h[(i - 1) * SIDE + i - 1];
        if (rise > 0) p->climb += rise;
        p->digest = (p->digest ^ (uint32_t)h[i * SIDE + SIDE - i]) * 1099511628211ull;
    }
    p->tiles++;
}

int main(void)
{
    static Archive a;
    static int32_t heights[CELLS];
    Profile p = { .lowest = INT32_MAX, .highest = INT32_MIN, .digest = 7 };
    char line[32];
    archive_open(&a);
    FILE *f = fopen("data/wanted.txt", "r");
    if (!f) fail("wanted.txt");
    while (fgets(line, sizeof line, f)) {
        size_t tile = strtoul(line, NULL, 10);
        if (tile >= a.count) continue;
        archive_read(&a, tile);
        p.bytes += a.entries[tile].length;
        restore_heights(a.raw, heights);
        add_tile(&p, heights);
    }
    fclose(f);
    inflateEnd(&a.z);
    printf("tiles %llu, bytes %llu, heights %d .. %d, climb %.0f, digest %016llx\n", (unsigned long long)p.tiles, (unsigned long long)p.bytes,
           p.lowest, p.highest, p.climb, (unsigned long long)p.digest);
    for (int i = 0; i < 8; i++) printf("%llu ", (unsigned long long)p.slopes[i]);
    printf("\n");
    return 0;
}
