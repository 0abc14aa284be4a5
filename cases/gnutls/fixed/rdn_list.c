// Names that are in the list already stay; only those of new certificates are appended.

#include "dn.h"
#include "rdn.h"
#include "trust_list.h"

#include <stdio.h>
#include <stdlib.h>

static int append_rdn(struct trust_list *list, const struct raw_dn *dn)
{
    if (dn->size > RDN_MAX) {
        fprintf(stderr, "a name of %zu bytes is too long for the list\n", dn->size);
        return -1;
    }
    size_t size = list->rdns_size + RDN_LENGTH_BYTES + dn->size;
    unsigned char *rdns = realloc(list->rdns, size);
    if (!rdns) {
        perror("cannot grow the list of names");
        return -1;
    }
    put_rdn(rdns + list->rdns_size, dn->data, dn->size);
    list->rdns = rdns;
    list->rdns_size = size;
    return 0;
}

int rebuild_rdn_list(struct trust_list *list)
{
    for (; list->rdns_count < list->count; list->rdns_count++) {
        struct raw_dn dn;
        if (get_raw_dn(list->definitions, list->certificates[list->rdns_count], &dn) < 0)
            return -1;
        int rc = append_rdn(list, &dn);
        free(dn.data);
        if (rc < 0)
            return -1;
    }
    return 0;
}
