// What every test program needs: its scale, a way out, and numbers that are the same on each run.
#ifndef SUPPORT_PROGRAM_H
#define SUPPORT_PROGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

// `items` times the scale in argv[1] (a decimal number, 1 if it is missing), and at least 1.
size_t scaled(size_t items, int argc, char **argv);

// Ends the program with status 1 and a message: what failed, and errno.
__attribute__((noreturn)) void die(const char *what);

// calloc that does not fail.
void *allocate(size_t count, size_t size);

#ifdef __cplusplus
}
#endif

// xorshift64: the seed must not be 0.
static inline uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

#endif
