// Draws numbers by their weights: each draw adds up the weights from the first one on. Expect: repeated-scan in pick. With a table of the sums (SUMS, as
// in picks_by_half) a binary search finds the place, and nothing is to be found.

#include "support/program.h"

#include <stdio.h>
#include <stdlib.h>

// With more draws where one is short, so that there is something to see.
#ifdef SUMS
enum { WEIGHTS = 20000, DRAWS = 15000000 };
#else
enum { WEIGHTS = 20000, DRAWS = 150000 };
#endif

#ifdef SUMS
static size_t pick(const double *sums, double at)
{
    size_t low = 0, high = WEIGHTS - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (sums[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
#else
static size_t pick(const double *weights, double at)
{
    double sum = 0;
    for (size_t i = 0; i < WEIGHTS; i++) {
        sum += weights[i];
        if (sum >= at)
            return i;
    }
    return WEIGHTS - 1;
}
#endif

int main(int argc, char **argv)
{
    size_t draws = scaled(DRAWS, argc, argv);
    uint64_t random = 88172645463325252;
    double *weights = allocate(WEIGHTS, sizeof *weights), *sums = allocate(WEIGHTS, sizeof *sums), sum = 0;
    for (size_t i = 0; i < WEIGHTS; i++) {
        weights[i] = (double)(next_random(&random) % 1000);
        sums[i] = sum += weights[i];
    }
    unsigned long picked = 0;
    for (size_t i = 0; i < draws; i++) {
        double part = (double)(next_random(&random) % 1000000) / 1e6;
        double at = sum * part * part;
#ifdef SUMS
        picked += pick(sums, at);
#else
        picked += pick(weights, at);
#endif
    }
    printf("%lu\n", picked);
    free(sums);
    free(weights);
    return 0;
}
