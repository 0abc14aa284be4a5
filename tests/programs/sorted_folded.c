// Sorts names by lower-case copies that each comparison makes. Expect: redundant-computation in by_folded_name.

#include "support/program.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct person {
    char name[40];
};

static char *folded(const char *name)
{
    size_t length = strlen(name);
    char *copy = malloc(length + 1);
    if (!copy)
        die("malloc");
    for (size_t i = 0; i <= length; i++)
        copy[i] = (char)tolower((unsigned char)name[i]);
    return copy;
}

static int by_folded_name(const void *a, const void *b)
{
    char *one = folded(((const struct person *)a)->name), *two = folded(((const struct person *)b)->name);
    int order = strcmp(one, two);
    free(one);
    free(two);
    return order;
}

int main(int argc, char **argv)
{
    size_t count = scaled(400000, argc, argv);
    struct person *people = allocate(count, sizeof *people);
    uint64_t random = 88172645463325252;
    for (size_t i = 0; i < count; i++) {
        uint64_t number = next_random(&random);
        snprintf(people[i].name, sizeof people[i].name, "%c%x Mc%zx", (int)('A' + number % 26), (unsigned)(number >> 32), i);
    }
    qsort(people, count, sizeof *people, by_folded_name);
    printf("%s\n%s\n", people[0].name, people[count - 1].name);
    free(people);
    return 0;
}
