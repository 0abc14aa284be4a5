/* gridstats - reads a chunked, packed climate variable (time, lat, lon) and
 * prints zonal means and extremes, one latitude row at a time. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NT 24
#define NLAT 512
#define NLON 1024
#define CT 1
#define CLAT 64
#define CLON 128
#define CHUNK_ELEMS (CT * CLAT * CLON)
#define CHUNK_BYTES (CHUNK_ELEMS * sizeof(float))
#define CHUNKS_LAT (NLAT / CLAT)
#define CHUNKS_LON (NLON / CLON)
#define NCHUNKS ((NT / CT) * CHUNKS_LAT * CHUNKS_LON)

#define CACHE_BYTES (128u * 1024u)

struct chunk_index {
    long offset;
    uint32_t packed;
};

struct cache_slot {
    int chunk;
    unsigned long used;
    float *data;
};

struct variable {
    FILE *f;
    struct chunk_index index[NCHUNKS];
    int nslots;
    struct cache_slot *slots;
    unsigned long clock;
    unsigned char *scratch;
};

struct zone {
    double sum;
    float lo, hi;
    long n;
};

static void die(const char *what)
{
    fprintf(stderr, "gridstats: %s\n", what);
    exit(1);
}

/* --- packing: byte shuffle, then runs --------------------------------- */

static uint32_t pack_runs(const unsigned char *in, uint32_t n, unsigned char *out)
{
    uint32_t o = 0;
    for (uint32_t i = 0; i < n;) {
        uint32_t run = 1;
        while (i + run < n && run < 127 && in[i + run] == in[i])
            run++;
        if (run >= 3) {
            out[o++] = (unsigned char)(0x80 | run);
            out[o++] = in[i];
            i += run;
        } else {
            uint32_t start = i, len = 0;
            while (i < n && len < 127 && !(i + 2 < n && in[i] == in[i + 1] && in[i] == in[i + 2])) {
                i++;
                len++;
            }
            out[o++] = (unsigned char)len;
            memcpy(out + o, in + start, len);
            o += len;
        }
    }
    return o;
}

static void unpack_runs(const unsigned char *in, uint32_t n, unsigned char *out)
{
    uint32_t i = 0;
    while (i < n) {
        unsigned len = in[i] & 0x7f;
        if (in[i++] & 0x80) {
            memset(out, in[i++], len);
        } else {
            memcpy(out, in + i, len);
            i += len;
        }
        out += len;
    }
}

static void shuffle(const float *src, unsigned char *dst)
{
    const unsigned char *s = (const unsigned char *)src;
    for (size_t b = 0; b < 4; b++)
        for (size_t i = 0; i < CHUNK_ELEMS; i++)
            *dst++ = s[i * 4 + b];
}

static void unshuffle(const unsigned char *src, float *dst)
{
    unsigned char *d = (unsigned char *)dst;
    for (size_t b = 0; b < 4; b++)
        for (size_t i = 0; i < CHUNK_ELEMS; i++)
            d[i * 4 + b] = *src++;
}

/* --- writing ----------------------------------------------------------- */

static float field(int t, int la, int lo)
{
    double lat = (la - NLAT / 2) * M_PI / NLAT, lon = lo * 2 * M_PI / NLON;
    double v = 288.0 - 45.0 * lat * lat + 4.0 * sin(3 * lon + t * 0.5) * cos(lat);
    return (float)(floor(v * 16.0) / 16.0);
}

static void write_variable(struct variable *v)
{
    float *buf = malloc(CHUNK_BYTES);
    unsigned char *sh = malloc(CHUNK_BYTES), *pk = malloc(CHUNK_BYTES * 2);
    if (!(v->f = tmpfile()) || !buf || !sh || !pk)
        die("cannot create the data file");
    for (int c = 0; c < NCHUNKS; c++) {
        int t = c / (CHUNKS_LAT * CHUNKS_LON), la0 = c / CHUNKS_LON % CHUNKS_LAT * CLAT;
        int lo0 = c % CHUNKS_LON * CLON;
        for (int la = 0; la < CLAT; la++)
            for (int lo = 0; lo < CLON; lo++)
                buf[la * CLON + lo] = field(t, la0 + la, lo0 + lo);
        shuffle(buf, sh);
        v->index[c].packed = pack_runs(sh, CHUNK_BYTES, pk);
        v->index[c].offset = ftell(v->f);
        fwrite(pk, 1, v->index[c].packed, v->f);
    }
    fflush(v->f);
    free(buf);
    free(sh);
    free(pk);
}

/* --- reading ------------------------------------------------------------ */

static void open_variable(struct variable *v)
{
    v->nslots = (int)(CACHE_BYTES / CHUNK_BYTES);
    if (v->nslots < CHUNKS_LON + 1)
        v->nslots = CHUNKS_LON + 1;
    v->slots = calloc((size_t)v->nslots, sizeof *v->slots);
    for (int i = 0; i < v->nslots; i++) {
        v->slots[i].chunk = -1;
        v->slots[i].data = malloc(CHUNK_BYTES);
    }
    v->scratch = malloc(CHUNK_BYTES * 3);
}

static void load_chunk(struct variable *v, int c, float *dst)
{
    unsigned char *packed = v->scratch + CHUNK_BYTES;
    fseek(v->f, v->index[c].offset, SEEK_SET);
    if (fread(packed, 1, v->index[c].packed, v->f) != v->index[c].packed)
        die("short read");
    unpack_runs(packed, v->index[c].packed, v->scratch);
    unshuffle(v->scratch, dst);
}

static const float *get_chunk(struct variable *v, int c)
{
    struct cache_slot *old = &v->slots[0];
    v->clock++;
    for (int i = 0; i < v->nslots; i++) {
        struct cache_slot *s = &v->slots[i];
        if (s->chunk == c) {
            s->used = v->clock;
            return s->data;
        }
        if (s->used < old->used)
            old = s;
    }
    load_chunk(v, c, old->data);
    old->chunk = c;
    old->used = v->clock;
    return old->data;
}

static void read_row(struct variable *v, int t, int la, float *row)
{
    int first = (t * CHUNKS_LAT + la / CLAT) * CHUNKS_LON;
    for (int k = 0; k < CHUNKS_LON; k++) {
        const float *d = get_chunk(v, first + k);
        memcpy(row + k * CLON, d + la % CLAT * CLON, CLON * sizeof *row);
    }
}

static void add_row(struct zone *z, const float *row)
{
    for (int i = 0; i < NLON; i++) {
        z->sum += row[i];
        if (row[i] < z->lo)
            z->lo = row[i];
        if (row[i] > z->hi)
            z->hi = row[i];
        z->n++;
    }
}

int main(void)
{
    static struct variable v;
    static struct zone zones[18];
    static float row[NLON];
    for (int i = 0; i < 18; i++) {
        zones[i].lo = 1e9f;
        zones[i].hi = -1e9f;
    }
    write_variable(&v);
    open_variable(&v);
    for (int t = 0; t < NT; t++)
        for (int la = 0; la < NLAT; la++) {
            read_row(&v, t, la, row);
            add_row(&zones[la * 18 / NLAT], row);
        }
    for (int i = 0; i < 18; i++)
        printf("zone %3d: mean %.4f min %.4f max %.4f\n", -90 + i * 10, zones[i].sum / zones[i].n, zones[i].lo,
               zones[i].hi);
    return 0;
}
