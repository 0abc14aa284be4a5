// Tells integers, floating-point numbers and ranges apart in a text. The slow version looks for ".." in all that is left of the text for each number; the fixed one
// in the number alone.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 110000, LONGEST = 16 };

struct kinds {
    unsigned integers, floats, ranges;
};

static void read_number(const char *number, size_t length, int fixed, struct kinds *kinds)
{
    const char *dots;
    if (fixed) {
        char copy[LONGEST + 1];
        memcpy(copy, number, length);
        copy[length] = 0;
        const char *in_copy = strstr(copy, "..");
        dots = in_copy ? number + (in_copy - copy) : NULL;
    } else {
        dots = strstr(number, "..");
    }
    if (dots && dots < number + length)
        kinds->ranges++;
    else if (memchr(number, '.', length))
        kinds->floats++;
    else
        kinds->integers++;
}

int main(int argc, char **argv)
{
    int fixed = argc > 1 && strcmp(argv[1], "fixed") == 0;
    char *text = malloc(NUMBERS * (LONGEST + 1) + 1);
    if (!text)
        return 1;
    char *end = text;
    uint32_t state = 1;
    for (int number = 0; number < NUMBERS; number++) {
        state = state * 1664525u + 1013904223u;
        if (state >> 31)
            end += sprintf(end, "%u.%u ", state >> 20, state >> 24);
        else
            end += sprintf(end, "%u ", state >> 8);
    }
    struct kinds kinds = {0, 0, 0};
    for (const char *at = text; at < end;) {
        size_t length = strcspn(at, " ");
        read_number(at, length, fixed, &kinds);
        at += length + 1;
    }
    printf("%u integers, %u floats, %u ranges\n", kinds.integers, kinds.floats, kinds.ranges);
    free(text);
    return 0;
}
