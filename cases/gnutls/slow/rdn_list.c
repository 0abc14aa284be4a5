// The list of names is made anew, from all certificates, each time one is added.

#include "dn.h"
#include "rdn.h"
#include "trust_list.h"

#include <stdio.h>
#include <stdlib.h>

int rebuild_rdn_list(struct trust_list *list)
{
    struct raw_dn dn;

    size_t size = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (get_raw_dn(list->definitions, list->certificates[i], &dn) < 0)
            return -1;
        free(dn.data);
        if (dn.size > RDN_MAX) {
            fprintf(stderr, "a name of %zu bytes is too long for the list\n", dn.size);
            return -1;
        }
        size += RDN_LENGTH_BYTES + dn.size;
    }

    unsigned char *rdns = malloc(size);
    if (!rdns) {
        perror("cannot make the list of names");
        return -1;
    }
    unsigned char *out = rdns;
    for (size_t i = 0; i < list->count; i++) {
        if (get_raw_dn(list->definitions, list->certificates[i], &dn) < 0) {
            free(rdns);
            return -1;
        }
        out = put_rdn(out, dn.data, dn.size);
        free(dn.data);
    }

    free(list->rdns);
    list->rdns = rdns;
    list->rdns_size = size;
    list->rdns_count = list->count;
    return 0;
}
