/* writes photo.pgm, a synthetic landscape with noise */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int w = atoi(argv[1]), h = atoi(argv[2]);
    uint32_t s = 5612;
    FILE *f = fopen("photo.pgm", "wb");
    uint8_t *row = malloc(w);
    fprintf(f, "P5\n%d %d\n255\n", w, h);
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            s = s * 1664525 + 1013904223;
            int ridge = (int)(h * 0.45) + (x * 37 / 100 % 400) - (x * 11 / 100 % 230);
            int v = y < ridge ? 200 - y * 60 / h : 70 + ((x / 90 ^ y / 70) & 7) * 12;
            v += (int)(s >> 28) - 8;
            if ((x - w / 3) * (x - w / 3) + (y - h / 5) * (y - h / 5) < 40000) v = 250;
            row[x] = v < 0 ? 0 : v > 255 ? 255 : v;
        }
        fwrite(row, 1, w, f);
    }
    return fclose(f);
}
