#include "name_list.h"

#include "program.h"

#include <string.h>
#include <strings.h>

struct name_node {
    struct name_node *next;
    char name[];
};

bool name_list_insert(struct name_list *list, const char *name)
{
    struct name_node **link = &list->first;
    for (; *link; link = &(*link)->next) {
        if (strcasecmp((*link)->name, name) == 0)
            return false;
    }
    struct name_node *node = allocate(1, sizeof(*node) + strlen(name) + 1);
    strcpy(node->name, name);
    *link = node;
    list->count++;
    return true;
}

void name_list_free(struct name_list *list)
{
    while (list->first) {
        struct name_node *next = list->first->next;
        free(list->first);
        list->first = next;
    }
    list->count = 0;
}
