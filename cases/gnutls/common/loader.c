// load-certificates FOLDER: reads every certificate in a folder into a trust list, in the order of
// the files' names, and prints what the list came to.

#include "../../common/countof.h"
#include "trust_list.h"

#include <dirent.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Reads a whole file into memory that the caller frees. NULL, with a message, on failure.
static char *read_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    char *text = malloc(size + 1);
    if (!file || !text || fread(text, 1, size, file) != size) {
        fprintf(stderr, "%s: cannot read: %s\n", path, errno ? strerror(errno) : "too short");
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

// Adds one entry of the folder; anything but a readable regular file is passed over.
static int load_entry(struct trust_list *list, const char *folder, const char *name)
{
    char path[PATH_MAX];
    int length = snprintf(path, COUNTOF(path), "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= COUNTOF(path)) {
        fprintf(stderr, "%s/%s: the path is too long\n", folder, name);
        return -1;
    }
    struct stat info;
    if (stat(path, &info) < 0 || !S_ISREG(info.st_mode) || info.st_size == 0)
        return 0; // a folder, or a link to nowhere

    errno = 0;
    char *text = read_file(path, (size_t)info.st_size);
    if (!text)
        return -1;
    int rc = add_ca_file(list, path, text, (size_t)info.st_size);
    free(text);
    return rc;
}

// By bytes, so that the order, and with it the digest, does not hang on the locale.
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int load_folder(struct trust_list *list, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, by_name);
    if (count < 0) {
        fprintf(stderr, "%s: cannot read the folder: %s\n", folder, strerror(errno));
        return -1;
    }
    int rc = 0;
    for (int i = 0; i < count; i++) {
        if (rc == 0)
            rc = load_entry(list, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

static int print_summary(const struct trust_list *list)
{
    unsigned char digest[32];
    int rc = gnutls_hash_fast(GNUTLS_DIG_SHA256, list->rdns, list->rdns_size, digest);
    if (rc < 0) {
        fprintf(stderr, "cannot hash the list of names: %s\n", gnutls_strerror(rc));
        return -1;
    }
    printf("%zu certificates, %zu bytes of names, sha256 ", list->count, list->rdns_size);
    for (size_t i = 0; i < COUNTOF(digest); i++)
        printf("%02x", digest[i]);
    printf("\n");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    struct trust_list list;
    if (trust_list_init(&list) < 0)
        return 1;
    int rc = load_folder(&list, argv[1]);
    if (rc == 0)
        rc = print_summary(&list);
    trust_list_free(&list);
    return rc == 0 ? 0 : 1;
}
