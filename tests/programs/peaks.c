// Takes up a recording block by block, and after each block takes the largest of all samples so far. Expect: superlinear-work in take_block.

#include "support/program.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 7500, BLOCK = 64 };

struct track {
    int *samples;
    size_t count;
    int peak;
};

static __attribute__((noinline)) void take_block(struct track *track, const int *block)
{
    for (size_t at = 0; at < BLOCK; at++)
        track->samples[track->count++] = block[at];
    int peak = track->samples[0];
    for (size_t at = 1; at < track->count; at++)
        peak = track->samples[at] > peak ? track->samples[at] : peak;
    track->peak = peak;
}

int main(int argc, char **argv)
{
    size_t blocks = scaled(BLOCKS, argc, argv);
    struct track track = {allocate(blocks * BLOCK, sizeof *track.samples), 0, 0};
    uint64_t peaks = 0;
    uint32_t state = 1;
    for (size_t number = 0; number < blocks; number++) {
        int block[BLOCK];
        for (size_t at = 0; at < BLOCK; at++) {
            state = state * 1664525u + 1013904223u;
            block[at] = (int)(state >> 12) + (int)number;
        }
        take_block(&track, block);
        peaks += (uint64_t)track.peak;
    }
    printf("%zu samples, peaks add up to %llu\n", track.count, (unsigned long long)peaks);
    free(track.samples);
    return 0;
}
