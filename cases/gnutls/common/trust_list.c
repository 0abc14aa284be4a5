#define _GNU_SOURCE // memmem
#include "trust_list.h"

#include <gnutls/gnutls.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char pem_begin[] = "-----BEGIN CERTIFICATE-----";
static const char pem_end[] = "-----END CERTIFICATE-----";

extern const asn1_static_node pkix_mini[]; // made from pkix-mini.asn

int trust_list_init(struct trust_list *list)
{
    char error[ASN1_MAX_ERROR_DESCRIPTION_SIZE] = "";

    *list = (struct trust_list){0};
    int rc = asn1_array2tree(pkix_mini, &list->definitions, error);
    if (rc != ASN1_SUCCESS) {
        fprintf(stderr, "cannot load the ASN.1 module: %s %s\n", asn1_strerror(rc), error);
        return -1;
    }
    return 0;
}

void trust_list_free(struct trust_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        asn1_delete_structure(&list->certificates[i]);
    free(list->certificates);
    free(list->rdns);
    asn1_delete_structure(&list->definitions);
    *list = (struct trust_list){0};
}

static int append_certificate(struct trust_list *list, asn1_node certificate)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        asn1_node *grown = realloc(list->certificates, room * sizeof(*grown));
        if (!grown) {
            perror("cannot grow the trust list");
            return -1;
        }
        list->certificates = grown;
        list->room = room;
    }
    list->certificates[list->count++] = certificate;
    return 0;
}

// Decodes one PEM block. NULL, with a message, if it is not a certificate.
static asn1_node decode_certificate(asn1_node definitions, const char *path, const char *pem,
                                    size_t size)
{
    char error[ASN1_MAX_ERROR_DESCRIPTION_SIZE] = "";
    gnutls_datum_t text = {(unsigned char *)pem, (unsigned)size};
    gnutls_datum_t der = {NULL, 0};
    asn1_node certificate = NULL;

    int rc = gnutls_pem_base64_decode2("CERTIFICATE", &text, &der);
    if (rc < 0) {
        fprintf(stderr, "%s: left out: %s\n", path, gnutls_strerror(rc));
        return NULL;
    }
    rc = asn1_create_element(definitions, "PkixMini.Certificate", &certificate);
    if (rc == ASN1_SUCCESS)
        rc = asn1_der_decoding(&certificate, der.data, (int)der.size, error);
    gnutls_free(der.data);
    if (rc != ASN1_SUCCESS) {
        fprintf(stderr, "%s: left out: %s %s\n", path, asn1_strerror(rc), error);
        asn1_delete_structure(&certificate);
        return NULL;
    }
    return certificate;
}

int add_ca_file(struct trust_list *list, const char *path, const char *text, size_t size)
{
    const size_t before = list->count;
    const char *const stop = text + size;

    if (size > INT_MAX) { // libtasn1 counts in int
        fprintf(stderr, "%s: too large\n", path);
        return -1;
    }
    for (;;) {
        const char *begin = memmem(text, (size_t)(stop - text), pem_begin, strlen(pem_begin));
        if (!begin)
            break;
        const char *end = memmem(begin, (size_t)(stop - begin), pem_end, strlen(pem_end));
        if (!end)
            break;
        text = end + strlen(pem_end);

        asn1_node certificate =
            decode_certificate(list->definitions, path, begin, (size_t)(text - begin));
        if (!certificate)
            continue;
        if (append_certificate(list, certificate) < 0) {
            asn1_delete_structure(&certificate);
            return -1;
        }
    }
    return list->count > before ? rebuild_rdn_list(list) : 0;
}
