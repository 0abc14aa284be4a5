/* Updates a working copy and its externals from dumps of a repository: writes the files of each, records their
   checksum, size and time in an entries file, and then looks for local changes by size and time. */
#define _GNU_SOURCE
#include <errno.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_ENTRIES 1024

typedef struct {
    char path[96];
    uint64_t checksum;
    long size;
    int revision;
    struct timespec mtime;
} Entry;

typedef struct {
    char root[64];
    Entry entries[MAX_ENTRIES];
    int count;
} WorkingCopy;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- files ---- */

static void make_parents(const char *path)
{
    char dir[192];
    snprintf(dir, sizeof dir, "%s", path);
    for (char *p = dir + 1; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        if (mkdir(dir, 0755) < 0 && errno != EEXIST) fail(dir);
        *p = '/';
    }
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *f)
{
    (void)st; (void)flag; (void)f;
    return remove(path);
}

static uint64_t checksum(const char *data, long size)
{
    uint64_t h = 1469598103934665603ull;
    for (long i = 0; i < size; i++) h = (h ^ (uint8_t)data[i]) * 1099511628211ull;
    return h;
}

static void write_file(const char *path, const char *data, long size)
{
    make_parents(path);
    FILE *f = fopen(path, "w");
    if (!f || fwrite(data, 1, size, f) != (size_t)size || fclose(f)) fail(path);
}

static char *read_file(const char *path, long *size)
{
    FILE *f = fopen(path, "r");
    if (!f) fail(path);
    fseek(f, 0, SEEK_END);
    *size = ftell(f);
    rewind(f);
    char *data = malloc(*size + 1);
    if (fread(data, 1, *size, f) != (size_t)*size) fail(path);
    fclose(f);
    data[*size] = 0;
    return data;
}

/* ---- time stamps ---- */

/* Waits until a change to a file of the working copy gets another time stamp than those that were recorded. */
static void sleep_for_timestamps(const WorkingCopy *wc)
{
    struct timespec now, wait;
    int fine = 0;
    if (!wc->count) return;
    for (int i = 0; i < wc->count; i++) fine |= wc->entries[i].mtime.tv_nsec % 1000000 != 0;
    clock_gettime(CLOCK_REALTIME, &now);
    wait.tv_sec = 0;
    wait.tv_nsec = fine ? 10000000 : 1000000000 - now.tv_nsec;
    if (wait.tv_nsec == 1000000000) wait.tv_sec = 1, wait.tv_nsec = 0;
    nanosleep(&wait, NULL);
}

static void record_timestamp(Entry *e, const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0) fail(path);
    e->size = st.st_size;
    e->mtime = st.st_mtim;
}

/* ---- update ---- */

static int parse_record(char **at, char *name, long *size, int *revision, char **body)
{
    char *line = *at, *end = strchr(line, '\n');
    if (!end || sscanf(line, "file %95s %ld %d", name, size, revision) != 3) return 0;
    *body = end + 1;
    *at = *body + *size + 1;
    return 1;
}

static void write_entries(const WorkingCopy *wc)
{
    char path[192];
    snprintf(path, sizeof path, "%s/.wc/entries", wc->root);
    make_parents(path);
    FILE *f = fopen(path, "w");
    if (!f) fail(path);
    for (int i = 0; i < wc->count; i++) {
        const Entry *e = &wc->entries[i];
        fprintf(f, "%s\t%016llx\t%ld\t%d\t%lld.%09ld\n", e->path, (unsigned long long)e->checksum, e->size, e->revision,
                (long long)e->mtime.tv_sec, e->mtime.tv_nsec);
    }
    fclose(f);
}

static void update_target(WorkingCopy *wc, const char *dump)
{
    long size, body_size;
    char *data = read_file(dump, &size), *at = data, *body, path[192];
    wc->count = 0;
    while (wc->count < MAX_ENTRIES) {
        Entry *e = &wc->entries[wc->count];
        if (!parse_record(&at, e->path, &body_size, &e->revision, &body)) break;
        snprintf(path, sizeof path, "%s/%s", wc->root, e->path);
        write_file(path, body, body_size);
        e->checksum = checksum(body, body_size);
        record_timestamp(e, path);
        wc->count++;
    }
    free(data);
    write_entries(wc);
    sleep_for_timestamps(wc);
}

/* ---- status ---- */

static int is_modified(const WorkingCopy *wc, const Entry *e)
{
    char path[192];
    struct stat st;
    long size;
    snprintf(path, sizeof path, "%s/%s", wc->root, e->path);
    if (stat(path, &st) < 0) return 1;
    if (st.st_size == e->size && st.st_mtim.tv_sec == e->mtime.tv_sec && st.st_mtim.tv_nsec == e->mtime.tv_nsec) return 0;
    char *data = read_file(path, &size);
    int changed = checksum(data, size) != e->checksum;
    free(data);
    return changed;
}

static void edit_some(const WorkingCopy *wc)
{
    char path[192];
    for (int i = 0; i < wc->count; i += 37) {
        snprintf(path, sizeof path, "%s/%s", wc->root, wc->entries[i].path);
        FILE *f = fopen(path, "r+");
        if (!f) fail(path);
        fputs("EDIT", f);
        fclose(f);
    }
}

static int show_status(const WorkingCopy *wc)
{
    int modified = 0;
    for (int i = 0; i < wc->count; i++) {
        if (!is_modified(wc, &wc->entries[i])) continue;
        if (modified++ < 3) printf("M  %s/%s\n", strchr(wc->root, '/') + 1, wc->entries[i].path);
    }
    return modified;
}

int main(void)
{
    static const char *targets[] = { "trunk", "libs-core", "libs-net" };
    static WorkingCopy copies[3];
    char base[32], dump[64];
    uint64_t all = 0;
    snprintf(base, sizeof base, "wc-%d", (int)getpid());
    for (int i = 0; i < 3; i++) {
        snprintf(copies[i].root, sizeof copies[i].root, "%s/%s", base, targets[i]);
        snprintf(dump, sizeof dump, "data/%s.dump", targets[i]);
        update_target(&copies[i], dump);
    }
    for (int i = 0; i < 3; i++) {
        edit_some(&copies[i]);
        int modified = show_status(&copies[i]);
        for (int k = 0; k < copies[i].count; k++) all = all * 31 + copies[i].entries[k].checksum;
        printf("%s: %d files, %d modified\n", targets[i], copies[i].count, modified);
    }
    printf("checksum %016llx\n", (unsigned long long)all);
    nftw(base, remove_one, 32, FTW_DEPTH | FTW_PHYS);
    return 0;
}
