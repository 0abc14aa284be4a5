/* iconres - resolve the icons used by desktop entries through the theme search path. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const themes[] = { "Adapta", "Papirus", "Breeze", "hicolor" };
static const char *const sizes[] = { "48x48", "64x64", "32x32", "24x24", "22x22", "16x16", "128x128", "256x256", "scalable" };
static const char *const contexts[] = { "apps", "actions", "categories", "devices", "mimetypes", "places", "status" };
static const char *const suffixes[] = { "svg", "png", "xpm" };

#define COUNT(a) (sizeof(a) / sizeof *(a))

struct entry {
    char app[64];
    char icon[64];
};

struct entry_list {
    struct entry *items;
    size_t count, cap;
};

struct result {
    size_t found, missing;
    unsigned long long bytes;
    size_t per_theme[COUNT(themes)];
};

struct name_set {
    char **slots;
    size_t mask, used;
};

static struct name_set index_;

static unsigned hash_path(const char *s)
{
    unsigned h = 5381;
    while (*s)
        h = h * 33 ^ (unsigned char)*s++;
    return h ^ h >> 15;
}

static char **find_slot(struct name_set *set, const char *path)
{
    size_t i = hash_path(path) & set->mask;
    while (set->slots[i] && strcmp(set->slots[i], path))
        i = (i + 1) & set->mask;
    return &set->slots[i];
}

static void index_directory(struct name_set *set, const char *dir)
{
    char path[512];
    struct dirent *de;
    DIR *d = opendir(dir);
    if (!d)
        return;
    while ((de = readdir(d)) != NULL) {
        if (de->d_name[0] == '.' || set->used * 2 > set->mask)
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, de->d_name);
        char **slot = find_slot(set, path);
        if (!*slot) {
            *slot = strdup(path);
            set->used++;
        }
    }
    closedir(d);
}

static void build_index(const char *base)
{
    char dir[400];
    index_.mask = (1 << 16) - 1;
    index_.slots = calloc(index_.mask + 1, sizeof *index_.slots);
    for (size_t t = 0; t < COUNT(themes); t++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (size_t c = 0; c < COUNT(contexts); c++) {
                snprintf(dir, sizeof dir, "%s/icons/%s/%s/%s", base, themes[t], sizes[s], contexts[c]);
                index_directory(&index_, dir);
            }
}

static int icon_exists(const char *path)
{
    return *find_slot(&index_, path) != NULL;
}

static int find_icon(const char *base, const char *name, char *path, size_t cap)
{
    for (size_t t = 0; t < COUNT(themes); t++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (size_t c = 0; c < COUNT(contexts); c++)
                for (size_t x = 0; x < COUNT(suffixes); x++) {
                    snprintf(path, cap, "%s/icons/%s/%s/%s/%s.%s", base, themes[t], sizes[s], contexts[c], name, suffixes[x]);
                    if (icon_exists(path))
                        return (int)t;
                }
    return -1;
}

static int load_entries(const char *path, struct entry_list *l)
{
    char line[256];
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return -1;
    }
    struct entry e = { "", "" };
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '[') {
            snprintf(e.app, sizeof e.app, "%.60s", line + 1);
        } else if (!strncmp(line, "Icon=", 5)) {
            snprintf(e.icon, sizeof e.icon, "%.60s", line + 5);
            if (l->count == l->cap) {
                l->cap = l->cap ? l->cap * 2 : 256;
                l->items = realloc(l->items, l->cap * sizeof e);
            }
            l->items[l->count++] = e;
        }
    }
    fclose(f);
    return 0;
}

static unsigned long long read_icon(const char *path)
{
    char buf[4096];
    unsigned long long n = 0;
    size_t k;
    FILE *f = fopen(path, "rb");
    if (!f)
        return 0;
    while ((k = fread(buf, 1, sizeof buf, f)) > 0)
        n += k;
    fclose(f);
    return n;
}

static void resolve_all(const char *base, const struct entry_list *l, struct result *r)
{
    char path[512];
    for (size_t i = 0; i < l->count; i++) {
        int theme = find_icon(base, l->items[i].icon, path, sizeof path);
        if (theme < 0) {
            r->missing++;
            continue;
        }
        r->found++;
        r->per_theme[theme]++;
        r->bytes += read_icon(path);
    }
}

int main(int argc, char **argv)
{
    const char *base = argc > 1 ? argv[1] : "data";
    char path[300];
    struct entry_list list = { 0 };
    struct result res = { 0 };
    snprintf(path, sizeof path, "%s/applications.list", base);
    if (load_entries(path, &list) < 0)
        return 1;
    build_index(base);
    resolve_all(base, &list, &res);
    for (size_t t = 0; t < COUNT(themes); t++)
        printf("%-10s %zu\n", themes[t], res.per_theme[t]);
    printf("%zu entries, %zu found (%llu bytes), %zu missing\n", list.count, res.found, res.bytes, res.missing);
    free(list.items);
    return 0;
}
