// The certificates that a TLS client trusts, and the list of their subjects' names that a TLS
// server sends to tell which authorities it accepts: two bytes of length before each name.
#ifndef TRUST_LIST_H
#define TRUST_LIST_H

#include <libtasn1.h>
#include <stddef.h>

struct trust_list {
    asn1_node definitions;

    asn1_node *certificates;
    size_t count;
    size_t room;

    unsigned char *rdns; // the list of names
    size_t rdns_size;
    size_t rdns_count; // how many certificates have their name in it
};

int trust_list_init(struct trust_list *list);
void trust_list_free(struct trust_list *list);

// Adds every PEM certificate in a file's text, and their names to the list of names. Text without
// a certificate adds nothing. A certificate that does not decode is named on stderr and left out.
// 0, or -1 with a message on stderr.
int add_ca_file(struct trust_list *list, const char *path, const char *text, size_t size);

// Brings the list of names up to date with the certificates. 0, or -1 with a message on stderr.
int rebuild_rdn_list(struct trust_list *list);

#endif
