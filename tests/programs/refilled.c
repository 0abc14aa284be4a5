// One buffer, filled with another text each time and gone through once. Expect: nothing.

#include "support/program.h"

#include <stdio.h>
#include <string.h>

enum { LENGTH = 2000, TEXTS = 1400000, COPIES = 64 };

// The end of the text: after `seed`, which is nowhere else.
static size_t end_of(const uint32_t *text, uint32_t seed)
{
    size_t at = 0;
    while (text[at] != seed)
        at++;
    return at;
}

int main(int argc, char **argv)
{
    // Texts to copy from, so that filling takes less time than going through. They differ from their beginning on.
    uint32_t *texts = allocate((size_t)COPIES * LENGTH, sizeof *texts), *text = allocate(LENGTH, sizeof *text);
    uint64_t random = 88172645463325252;
    for (size_t i = 0; i < (size_t)COPIES * LENGTH; i++)
        texts[i] = (uint32_t)next_random(&random) | 1;

    size_t sum = 0, count = scaled(TEXTS, argc, argv);
    for (size_t i = 0; i < count; i++) {
        memcpy(text, texts + i % COPIES * LENGTH, LENGTH * sizeof *text);
        uint32_t seed = (uint32_t)(2 * (i + 1));
        text[0] = (uint32_t)i;
        text[LENGTH - 1] = seed;
        sum += end_of(text, seed);
    }
    printf("%zu words\n", sum);
    free(texts);
    free(text);
    return 0;
}
