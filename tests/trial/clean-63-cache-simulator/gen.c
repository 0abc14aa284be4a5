/* writes program.trace: N accesses of a made-up program */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static uint64_t st = 4711;
static uint32_t rnd(void) { st ^= st << 13; st ^= st >> 7; st ^= st << 17; return st >> 24; }
int main(int argc, char **argv) {
    long n = atol(argv[1]);
    uint64_t pc = 0x401000, sp = 0x1ffefff000, seq = 0x4a00000;
    FILE *f = fopen("program.trace", "w");
    fprintf(f, "== code 401000 480000\n== heap 4a00000 6a00000\n== stack 1ffef00000 1fff001000\n");
    for (long i = 0; i < n; i++) {
        int len = 2 + rnd() % 6;
        fprintf(f, "I  %lx,%d\n", pc, len);
        pc += len;
        if (rnd() % 9 == 0) pc = rnd() % 8 ? pc - rnd() % 400 : 0x401000 + rnd() % 0x30000;
        if (pc < 0x401000) pc = 0x401000;
        if (rnd() % 3 == 0) {
            uint64_t a; unsigned r = rnd() % 10;
            if (r < 4) a = sp - rnd() % 2048 / 8 * 8;
            else if (r < 7) { a = seq; seq += 8; if (seq > 0x5a00000) seq = 0x4a00000; }
            else a = 0x4a00000 + (rnd() % 4 ? rnd() % 0x60000 : rnd() % 0x1f00000);
            fprintf(f, " %c %lx,%d\n", "LLLSSM"[rnd() % 6], a, 1 << rnd() % 4);
        }
    }
    return fclose(f);
}
