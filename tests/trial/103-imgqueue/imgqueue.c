/* Builds the play list of a picture frame: collects the pictures of a tree, sorts them (newest first for the
   list, by size for the report), skips near duplicates in time, and prints an excerpt with a digest of the order. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DAYS 6
#define BURST_NS 400000000ll     /* pictures closer than this belong to one burst */

typedef struct File {
    char *path;
    const char *name;
    int64_t mtime;               /* of the selected ones, for the report */
    int64_t size;
    struct File *next;
} File;

typedef struct {
    File *head;
    int count;
    unsigned long skipped, dirs;
} List;

typedef int Compare(File *, File *);

static int is_picture(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (!strcmp(dot, ".ppm") || !strcmp(dot, ".pgm") || !strcmp(dot, ".pbm"));
}

static void add_file(List *l, const char *path)
{
    File *f = calloc(1, sizeof *f);
    f->path = strdup(path);
    f->name = strrchr(f->path, '/') + 1;
    f->next = l->head;
    l->head = f;
    l->count++;
}

static void collect(List *l, const char *dir)
{
    char path[512];
    DIR *d = opendir(dir);
    struct dirent *e;
    if (!d) { perror(dir); exit(1); }
    l->dirs++;
    while ((e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (e->d_type == DT_DIR) collect(l, path);
        else if (is_picture(e->d_name)) add_file(l, path);
        else l->skipped++;
    }
    closedir(d);
}

static int file_stat(File *f, struct stat *st)
{
    if (stat(f->path, st) < 0) {
        memset(st, 0, sizeof *st);
        return -1;
    }
    return 0;
}

static int64_t stamp(const struct stat *st)
{
    return st->st_mtim.tv_sec * 1000000000ll + st->st_mtim.tv_nsec;
}

static int compare_name(File *a, File *b)
{
    int c = strcmp(a->name, b->name);
    return c ? c : strcmp(a->path, b->path);
}

static int compare_mtime(File *a, File *b)
{
    struct stat sa, sb;
    file_stat(a, &sa);
    file_stat(b, &sb);
    int64_t ta = stamp(&sa), tb = stamp(&sb);
    if (ta != tb) return ta > tb ? -1 : 1;
    return compare_name(a, b);
}

static int compare_size(File *a, File *b)
{
    struct stat sa, sb;
    file_stat(a, &sa);
    file_stat(b, &sb);
    if (sa.st_size != sb.st_size) return sa.st_size < sb.st_size ? -1 : 1;
    return compare_name(a, b);
}

static File *merge(File *a, File *b, Compare *cmp)
{
    File head, *tail = &head;
    while (a && b) {
        File **least = cmp(a, b) <= 0 ? &a : &b;
        tail->next = *least;
        tail = *least;
        *least = (*least)->next;
    }
    tail->next = a ? a : b;
    return head.next;
}

static File *sort_list(File *f, int n, Compare *cmp)
{
    if (n < 2) return f;
    File *mid = f;
    for (int i = 1; i < n / 2; i++) mid = mid->next;
    File *second = mid->next;
    mid->next = NULL;
    return merge(sort_list(f, n / 2, cmp), sort_list(second, n - n / 2, cmp), cmp);
}

static uint64_t order_digest(const File *f)
{
    uint64_t h = 14695981039346656037ull;
    for (; f; f = f->next)
        for (const char *p = f->path; *p; p++) h = (h ^ (uint8_t)*p) * 1099511628211ull;
    return h;
}

static void excerpt(const List *l, const char *title)
{
    int i = 0;
    printf("%s, %d pictures, order %016llx\n", title, l->count, (unsigned long long)order_digest(l->head));
    for (const File *f = l->head; f; f = f->next, i++)
        if (i < 3 || i % (l->count / 5) == 0) printf("  %5d %s\n", i, f->path);
}

static void note_details(List *l)
{
    for (File *f = l->head; f; f = f->next) {
        struct stat st;
        file_stat(f, &st);
        f->mtime = stamp(&st);
        f->size = st.st_size;
    }
}

static void drop_bursts(List *l)
{
    int dropped = 0;
    for (File *f = l->head; f && f->next;) {
        if (f->mtime - f->next->mtime < BURST_NS) {
            File *gone = f->next;
            f->next = gone->next;
            free(gone->path);
            free(gone);
            l->count--;
            dropped++;
        } else {
            f = f->next;
        }
    }
    printf("bursts: %d dropped\n", dropped);
}

static void size_classes(const List *l)
{
    unsigned long classes[12] = { 0 };
    int64_t total = 0;
    for (const File *f = l->head; f; f = f->next) {
        int c = 0;
        while (c < 11 && (f->size >> c) > 1) c++;
        classes[c]++;
        total += f->size;
    }
    for (int c = 0; c < 12; c++)
        if (classes[c]) printf("  up to %5d bytes: %lu\n", 2 << c, classes[c]);
    printf("  total %lld\n", (long long)total);
}

static void free_list(List *l)
{
    while (l->head) {
        File *f = l->head;
        l->head = f->next;
        free(f->path);
        free(f);
    }
    memset(l, 0, sizeof *l);
}

static void prepare_day(int day)
{
    List l = { 0 };
    printf("day %d\n", day);
    collect(&l, "data/pictures");
    printf("%lu directories, %lu other files\n", l.dirs, l.skipped);
    l.head = sort_list(l.head, l.count, compare_name);
    excerpt(&l, "by name");
    l.head = sort_list(l.head, l.count, compare_mtime);
    note_details(&l);
    drop_bursts(&l);
    excerpt(&l, "newest first");
    l.head = sort_list(l.head, l.count, compare_size);
    excerpt(&l, "by size");
    size_classes(&l);
    free_list(&l);
}

int main(void)
{
    for (int day = 1; day <= DAYS; day++) prepare_day(day);      /* the tree is read anew for each day */
    return 0;
}
