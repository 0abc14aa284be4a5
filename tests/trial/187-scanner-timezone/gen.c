/* writes sales.col: GROUPS row groups of ROWS rows */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#define ROWS 50000
static uint64_t st = 33163307;
static uint32_t rnd(void) { st ^= st << 13; st ^= st >> 7; st ^= st << 17; return st >> 20; }
struct ts { int64_t nanos; int32_t day; } __attribute__((packed));
static struct ts ts[ROWS]; static int32_t am[ROWS]; static uint16_t sr[ROWS];
static uint8_t *z; static uLongf pack(const void *p, size_t n, uint8_t *out) { uLongf l = compressBound(n); compress2(out, &l, p, n, 1); return l; }
int main(int argc, char **argv) {
    int groups = atoi(argv[1]);
    FILE *f = fopen("sales.col", "wb");
    z = malloc(4 << 20);
    int64_t t = 1420070400;
    for (int g = 0; g < groups; g++) {
        uint32_t h[4] = { ROWS };
        for (int i = 0; i < ROWS; i++) {
            t += rnd() % 40;
            ts[i].day = 2440588 + t / 86400; ts[i].nanos = t % 86400 * 1000000000;
            am[i] = rnd() % 12 ? (int32_t)(rnd() % 40 * 25 + 99) : 0;
            sr[i] = rnd() % 300;
        }
        uint8_t *p = z;
        p += h[1] = pack(ts, sizeof ts, p); p += h[2] = pack(am, sizeof am, p); p += h[3] = pack(sr, sizeof sr, p);
        fwrite(h, sizeof h, 1, f); fwrite(z, 1, p - z, f);
    }
    return fclose(f);
}
