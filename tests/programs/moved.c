// Lists of items that refer to themselves, and so are moved one by one. For each item that is added, room for exactly one more is made, and all are moved
// there; with each of some documents that starts over. Expect: superlinear-work in list_add or move_items.

#include "support/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOCUMENTS = 300, ITEMS = 2000 };

struct item {
    char *name;
    char buffer[24];
};

struct list {
    struct item *items;
    size_t count;
};

static __attribute__((noinline)) void move_items(struct item *item, struct item *end, struct item *to)
{
    for (; item < end; item++, to++) {
        if (item->name != item->buffer) {
            to->name = item->name;
            continue;
        }
        memcpy(to->buffer, item->buffer, sizeof to->buffer);
        to->name = to->buffer;
    }
}

static __attribute__((noinline)) void list_add(struct list *list, unsigned number)
{
    struct item *items = allocate(list->count + 1, sizeof *items);
    move_items(list->items, list->items + list->count, items);
    free(list->items);
    list->items = items;
    struct item *item = &items[list->count++];
    item->name = item->buffer;
    snprintf(item->buffer, sizeof item->buffer, "item %u", number);
}

int main(int argc, char **argv)
{
    size_t documents = scaled(DOCUMENTS, argc, argv), letters = 0;
    for (size_t document = 0; document < documents; document++) {
        struct list list = {NULL, 0};
        for (unsigned number = 0; number < ITEMS; number++)
            list_add(&list, number);
        for (size_t at = 0; at < list.count; at++)
            letters += strlen(list.items[at].name);
        free(list.items);
    }
    printf("%zu documents, %zu letters\n", documents, letters);
    return 0;
}
