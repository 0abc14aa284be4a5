// Distinguished names in the form in which they stand in a certificate: DER, as raw bytes.
#ifndef DN_H
#define DN_H

#include <libtasn1.h>
#include <stddef.h>

struct raw_dn {
    unsigned char *data; // owned: free() it
    size_t size;
};

// Reads the subject's name out of a decoded certificate. `definitions` is the ASN.1 module that
// the certificate was decoded with. 0, or -1 with a message on stderr and `dn` untouched.
int get_raw_dn(asn1_node definitions, asn1_node certificate, struct raw_dn *dn);

#endif
