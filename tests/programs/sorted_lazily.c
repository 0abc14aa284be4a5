// Sorts by a key that a comparison makes when it first needs it, and keeps. Expect: nothing.

#include "support/program.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    char name[200];
    char *key;
};

// Takes some time: it goes through the name thrice.
static __attribute__((noinline)) const char *key_of(struct item *item)
{
    if (item->key)
        return item->key;
    item->key = malloc(sizeof(item->name));
    if (!item->key)
        die("malloc");
    for (size_t i = 0; i < sizeof(item->name); i++)
        item->key[i] = (char)tolower((unsigned char)item->name[i]);
    for (size_t i = 0; i < sizeof(item->name); i++)
        item->key[i] = (char)(isspace((unsigned char)item->key[i]) ? '-' : item->key[i]);
    for (size_t i = 0; i < sizeof(item->name); i++)
        item->key[i] = (char)(ispunct((unsigned char)item->key[i]) ? '-' : item->key[i]);
    return item->key;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(key_of(*(struct item *const *)a), key_of(*(struct item *const *)b));
}

int main(int argc, char **argv)
{
    size_t count = 2000, rounds = scaled(1000, argc, argv);
    struct item *items = allocate(count, sizeof(*items));
    struct item **sorted = allocate(count, sizeof(struct item *));
    unsigned long sum = 0;
    unsigned seed = 1;
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            seed = seed * 1103515245 + 12345;
            snprintf(items[i].name, sizeof(items[i].name), "%c%x Item %x", 'A' + (int)(seed >> 8) % 26, seed >> 4, seed);
            free(items[i].key);
            items[i].key = NULL;
            sorted[i] = &items[i];
        }
        qsort(sorted, count, sizeof(struct item *), by_key);
        sum += (unsigned char)sorted[count / 2]->key[1];
    }
    printf("%lu\n", sum);
    return 0;
}
