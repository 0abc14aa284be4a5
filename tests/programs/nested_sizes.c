// Writes trees of boxes, each with its size in front; the size of what is in a box is added up anew at each level. Expect: redundant-computation in
// box_size.

#include "support/program.h"

#include <stdio.h>
#include <stdlib.h>

struct box {
    unsigned tag, payload;
    struct box *first, *next;
};

static struct box *new_box(struct box *next, uint64_t *random)
{
    struct box *box = allocate(1, sizeof *box);
    *box = (struct box){.tag = (unsigned)(next_random(random) % 64), .payload = (unsigned)(next_random(random) % 900), .next = next};
    return box;
}

static unsigned digits(unsigned number)
{
    unsigned count = 1;
    for (; number >= 128; number >>= 7)
        count++;
    return count;
}

// What is written of a box: its tag, the size of what is in it, and that.
static unsigned box_size(const struct box *box)
{
    unsigned inside = box->payload;
    for (const struct box *child = box->first; child; child = child->next)
        inside += box_size(child);
    return digits(box->tag) + digits(inside) + inside;
}

static unsigned long put(unsigned long sum, unsigned number)
{
    return (sum ^ number) * 1099511628211ul;
}

static unsigned long write_box(unsigned long sum, const struct box *box)
{
    sum = put(put(sum, box->tag), box_size(box));
    for (const struct box *child = box->first; child; child = child->next)
        sum = write_box(sum, child);
    return sum;
}

static void free_box(struct box *box)
{
    for (struct box *child = box->first, *next; child; child = next) {
        next = child->next;
        free_box(child);
    }
    free(box);
}

int main(int argc, char **argv)
{
    size_t trees = scaled(24000, argc, argv);
    uint64_t random = 88172645463325252;
    unsigned long sum = 14695981039346656037ul;
    for (size_t i = 0; i < trees; i++) {
        struct box *root = NULL;
        for (unsigned level = 0; level < 120 + i % 40; level++) {
            struct box *outer = new_box(NULL, &random);
            outer->first = root ? new_box(root, &random) : NULL;
            root = outer;
        }
        sum = write_box(sum, root);
        free_box(root);
    }
    printf("%lu\n", sum);
    return 0;
}
