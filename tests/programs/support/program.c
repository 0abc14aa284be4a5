#include "program.h"

#include <stdio.h>

size_t scaled(size_t items, int argc, char **argv)
{
    double scale = 1;
    if (argc > 1) {
        char *end;
        scale = strtod(argv[1], &end);
        if (end == argv[1] || *end || !(scale > 0 && scale <= 1000)) {
            fprintf(stderr, "usage: %s [SCALE]\n", argv[0]);
            exit(2);
        }
    }
    size_t count = (size_t)((double)items * scale);
    return count ? count : 1;
}

void die(const char *what)
{
    perror(what);
    exit(1);
}

void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        die("calloc");
    return memory;
}
