// Counts the visits of pages by their number, in a hash table whose places are tried one after the other. The hash of a number is its upper part: neighbours
// pile up. Expect: repeated-scan in find_page. With MIXES (as in spread) the hash takes all bits, and nothing is to be found.

#include "support/program.h"

#include <stdio.h>

// With more visits where a search is short, so that there is something to see.
#ifdef MIXES
enum { PAGES = 100000, VISITS = 30000000 };
#else
enum { PAGES = 100000, VISITS = 1200000 };
#endif
enum { PLACES = 1 << 18, NEIGHBOURS = 1000 };

struct page {
    uint64_t number;
    unsigned visits;
};

static unsigned hash_of(uint64_t number)
{
#ifdef MIXES
    return (unsigned)((number * 0x9e3779b97f4a7c15u) >> 32);
#else
    return (unsigned)(number / NEIGHBOURS) * 2654435761u;
#endif
}

// The place of a page, or a free one.
__attribute__((noinline)) static struct page *find_page(struct page *pages, unsigned mask, uint64_t number)
{
    unsigned at = hash_of(number) & mask;
    while (pages[at].visits && pages[at].number != number)
        at = (at + 1) & mask;
    return &pages[at];
}

int main(int argc, char **argv)
{
    size_t visits = scaled(VISITS, argc, argv);
    struct page *pages = allocate(PLACES, sizeof *pages);
    uint64_t random = 88172645463325252, most = 0;
    for (size_t i = 0; i < visits; i++) {
        uint64_t number = next_random(&random) % PAGES;
        struct page *page = find_page(pages, PLACES - 1, number);
        page->number = number;
        page->visits++;
        most = page->visits > most ? page->visits : most;
    }
    printf("at most %llu visits\n", (unsigned long long)most);
    return 0;
}
