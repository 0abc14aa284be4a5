// Counts words in a hash table that has 64 buckets, however many words there are. Expect: repeated-scan in find_word. With GROWS (as in
// more_buckets) the table grows with its words, and nothing is to be found.

#include "support/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// With more words where a search is short, so that there is something to see.
#ifdef GROWS
enum { WORDS = 30000, COUNT = 10000000 };
#else
enum { WORDS = 30000, COUNT = 400000 };
#endif

struct word {
    struct word *next;
    unsigned hash, count;
    char text[24];
};

struct table {
    struct word **buckets;
    unsigned size, words;
};

static unsigned hash_of(const char *text)
{
    unsigned hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

static struct word *find_word(const struct table *table, const char *text, unsigned hash)
{
    for (struct word *word = table->buckets[hash % table->size]; word; word = word->next)
        if (word->hash == hash && strcmp(word->text, text) == 0)
            return word;
    return NULL;
}

#ifdef GROWS
static void grow(struct table *table)
{
    struct table larger = {allocate(2 * table->size, sizeof(struct word *)), 2 * table->size, table->words};
    for (unsigned i = 0; i < table->size; i++)
        for (struct word *word = table->buckets[i], *next; word; word = next) {
            next = word->next;
            word->next = larger.buckets[word->hash % larger.size];
            larger.buckets[word->hash % larger.size] = word;
        }
    free(table->buckets);
    *table = larger;
}
#endif

static void count_word(struct table *table, const char *text)
{
    unsigned hash = hash_of(text);
    struct word *word = find_word(table, text, hash);
    if (!word) {
#ifdef GROWS
        if (table->words == table->size)
            grow(table);
#endif
        word = allocate(1, sizeof *word);
        word->hash = hash;
        strcpy(word->text, text);
        word->next = table->buckets[hash % table->size];
        table->buckets[hash % table->size] = word;
        table->words++;
    }
    word->count++;
}

int main(int argc, char **argv)
{
    size_t count = scaled(COUNT, argc, argv);
    struct table table = {allocate(64, sizeof(struct word *)), 64, 0};
    uint64_t random = 88172645463325252;
    for (size_t i = 0; i < WORDS + count; i++) {
        char text[24];
        snprintf(text, sizeof text, "word-%u", (unsigned)(i < WORDS ? i : next_random(&random) % WORDS));
        count_word(&table, text);
    }
    printf("%u words\n", table.words);
    return 0;
}
