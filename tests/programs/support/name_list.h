// A linked list of names that finds duplicates by looking at all of them.
#ifndef SUPPORT_NAME_LIST_H
#define SUPPORT_NAME_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct name_node;

struct name_list {
    struct name_node *first;
    size_t count;
};

// Adds a name unless it, in whatever case, is there already. Says whether it was added.
bool name_list_insert(struct name_list *list, const char *name);
void name_list_free(struct name_list *list);

#endif
