#include "dn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// DER-encodes one element of a certificate into memory that the caller frees.
static int encode(asn1_node certificate, const char *name, unsigned char **der, int *der_size)
{
    char error[ASN1_MAX_ERROR_DESCRIPTION_SIZE] = "";

    // With no room at all libtasn1 only says how much it needs.
    int size = 0;
    int rc = asn1_der_coding(certificate, name, NULL, &size, error);
    if (rc != ASN1_MEM_ERROR) {
        fprintf(stderr, "cannot encode %s: %s %s\n", name, asn1_strerror(rc), error);
        return -1;
    }
    unsigned char *buffer = malloc((size_t)size);
    if (!buffer) {
        perror("cannot encode a certificate");
        return -1;
    }
    rc = asn1_der_coding(certificate, name, buffer, &size, error);
    if (rc != ASN1_SUCCESS) {
        fprintf(stderr, "cannot encode %s: %s %s\n", name, asn1_strerror(rc), error);
        free(buffer);
        return -1;
    }
    *der = buffer;
    *der_size = size;
    return 0;
}

// Finds the subject in an encoded TBSCertificate: bytes start to end, both included.
static int find_subject(asn1_node definitions, const unsigned char *der, int der_size, int *start,
                        int *end)
{
    char error[ASN1_MAX_ERROR_DESCRIPTION_SIZE] = "";
    asn1_node tbs = NULL;

    int rc = asn1_create_element(definitions, "PkixMini.TBSCertificate", &tbs);
    if (rc == ASN1_SUCCESS)
        rc = asn1_der_decoding(&tbs, der, der_size, error);
    if (rc == ASN1_SUCCESS)
        rc = asn1_der_decoding_startEnd(tbs, der, der_size, "subject", start, end);
    asn1_delete_structure(&tbs);
    if (rc != ASN1_SUCCESS) {
        fprintf(stderr, "cannot find a subject: %s %s\n", asn1_strerror(rc), error);
        return -1;
    }
    return 0;
}

int get_raw_dn(asn1_node definitions, asn1_node certificate, struct raw_dn *dn)
{
    unsigned char *der;
    int der_size;
    if (encode(certificate, "tbsCertificate", &der, &der_size) < 0)
        return -1;

    int start, end;
    if (find_subject(definitions, der, der_size, &start, &end) < 0) {
        free(der);
        return -1;
    }

    size_t size = (size_t)(end - start) + 1;
    unsigned char *data = malloc(size);
    if (!data) {
        perror("cannot copy a subject");
        free(der);
        return -1;
    }
    memcpy(data, der + start, size);
    free(der);
    dn->data = data;
    dn->size = size;
    return 0;
}
