/* certcheck: checks the certificates that a scan of hosts has brought in against a bundle of trusted CAs, and reports by issuer. */
#include <dirent.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ISSUERS 64

struct issuer {
    char name[96];
    unsigned good, bad;
};

struct scan {
    const char *bundle;
    struct issuer issuers[MAX_ISSUERS];
    size_t n_issuers;
    unsigned hosts, good, bad;
    unsigned long digest;
    X509_STORE *store;
};

struct host {
    char name[128];
    X509 *cert;
};

static void die(const char *what)
{
    fprintf(stderr, "certcheck: %s\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static struct issuer *issuer_of(struct scan *s, X509 *cert)
{
    char name[96] = "?";
    X509_NAME_get_text_by_NID(X509_get_issuer_name(cert), NID_commonName, name, sizeof name);
    for (size_t i = 0; i < s->n_issuers; i++)
        if (!strcmp(s->issuers[i].name, name))
            return &s->issuers[i];
    if (s->n_issuers == MAX_ISSUERS)
        die("too many issuers");
    struct issuer *is = &s->issuers[s->n_issuers++];
    snprintf(is->name, sizeof is->name, "%s", name);
    return is;
}

static X509_STORE *trust_store(const char *bundle)
{
    X509_STORE *store = X509_STORE_new();
    if (!store || X509_STORE_load_file(store, bundle) != 1)
        die("cannot load the CA bundle");
    return store;
}

/* 1 if cert is signed by one of the trusted CAs and meant for servers */
static int verify_host(struct scan *s, const struct host *h)
{
    if (!s->store)
        s->store = trust_store(s->bundle);
    X509_STORE *store = s->store;
    X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    if (!ctx || X509_STORE_CTX_init(ctx, store, h->cert, NULL) != 1)
        die("verify context");
    X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(ctx);
    X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_NO_CHECK_TIME);
    X509_VERIFY_PARAM_set1_host(param, h->name, 0);
    int ok = X509_verify_cert(ctx) == 1;
    X509_STORE_CTX_free(ctx);
    return ok;
}

static void check_host(struct scan *s, const struct host *h)
{
    struct issuer *is = issuer_of(s, h->cert);
    int ok = verify_host(s, h);
    s->hosts++;
    if (ok) {
        s->good++;
        is->good++;
    } else {
        s->bad++;
        is->bad++;
    }
    for (const char *p = h->name; *p; p++)
        s->digest = s->digest * 33 + (unsigned char)*p;
    s->digest = s->digest * 33 + (unsigned)ok;
}

/* the scan's file: lines "HOST name", each followed by a certificate in PEM */
static void read_scan(struct scan *s, const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f)
        die(path);
    char line[256];
    while (fgets(line, sizeof line, f)) {
        struct host h;
        if (sscanf(line, "HOST %127s", h.name) != 1)
            continue;
        h.cert = PEM_read_X509(f, NULL, NULL, NULL);
        if (!h.cert)
            die("bad certificate in scan");
        check_host(s, &h);
        X509_free(h.cert);
    }
    fclose(f);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct issuer *)a)->name, ((const struct issuer *)b)->name);
}

int main(int argc, char **argv)
{
    static struct scan s;
    s.bundle = argc > 1 ? argv[1] : "data/ca-bundle.pem";
    read_scan(&s, argc > 2 ? argv[2] : "data/scan.txt");
    qsort(s.issuers, s.n_issuers, sizeof s.issuers[0], by_name);
    printf("hosts %u, trusted %u, not trusted %u, digest %016lx\n", s.hosts, s.good, s.bad, s.digest);
    for (size_t i = 0; i < s.n_issuers && i < 8; i++)
        printf("%-20s good %u bad %u\n", s.issuers[i].name, s.issuers[i].good, s.issuers[i].bad);
    X509_STORE_free(s.store);
    return 0;
}
