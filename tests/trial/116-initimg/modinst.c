/* modinst [-l FILE] NAME...: adds the modules that the names (modules or aliases of devices) stand for, and all
   that they depend on, to the list of files of the image, each once; FILE has what was added by earlier runs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 16384

typedef struct Module {
    char *name, *path;
    char *deps;
    int added;
    struct Module *next;
} Module;

typedef struct Alias {
    char *pattern, *module;
    struct Alias *next;
} Alias;

typedef struct {
    Module *modules[BUCKETS];
    Alias *aliases[BUCKETS];
    int module_count, alias_count;
} Index;

static uint32_t hash(const char *s)
{
    uint32_t h = 2166136261u;
    for (; *s; s++) h = (h ^ (uint8_t)*s) * 16777619u;
    return h % BUCKETS;
}

static Module *find_module(Index *ix, const char *name)
{
    Module *m = ix->modules[hash(name)];
    while (m && strcmp(m->name, name)) m = m->next;
    return m;
}

static void read_dep_line(Index *ix, char *line)
{
    char *colon = strchr(line, ':');
    if (!colon) return;
    *colon = 0;
    char *base = strrchr(line, '/');
    base = base ? base + 1 : line;
    Module *m = calloc(1, sizeof *m);
    m->path = strdup(line);
    m->name = strndup(base, strcspn(base, "."));
    m->deps = strdup(colon + 1);
    uint32_t h = hash(m->name);
    m->next = ix->modules[h];
    ix->modules[h] = m;
    ix->module_count++;
}

static void read_alias_line(Index *ix, const char *line)
{
    char pattern[64], module[64];
    if (sscanf(line, "alias %63s %63s", pattern, module) != 2) return;
    Alias *a = calloc(1, sizeof *a);
    a->pattern = strdup(pattern);
    a->module = strdup(module);
    uint32_t h = hash(pattern);
    a->next = ix->aliases[h];
    ix->aliases[h] = a;
    ix->alias_count++;
}

static int load_index(Index *ix)
{
    char line[512];
    FILE *f = fopen("data/modules.dep", "r");
    if (!f) return -1;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        read_dep_line(ix, line);
    }
    fclose(f);
    f = fopen("data/modules.alias", "r");
    if (!f) return -1;
    while (fgets(line, sizeof line, f)) read_alias_line(ix, line);
    fclose(f);
    return 0;
}

static void read_added(Index *ix, const char *file)
{
    char line[512];
    FILE *f = fopen(file, "r");
    if (!f) return;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *base = strrchr(line, '/');
        if (!base) continue;
        base[1 + strcspn(base + 1, ".")] = 0;
        Module *m = find_module(ix, base + 1);
        if (m) m->added = 1;
    }
    fclose(f);
}

static void add_module(Index *ix, Module *m, FILE *out)
{
    char *copy, *save, *dep;
    if (m->added) return;
    m->added = 1;
    copy = strdup(m->deps);
    for (dep = strtok_r(copy, " ", &save); dep; dep = strtok_r(NULL, " ", &save)) {
        Module *d = find_module(ix, dep);
        if (d) add_module(ix, d, out);
    }
    free(copy);
    fprintf(out, "%s\n", m->path);
}

static int install(Index *ix, const char *name, FILE *out)
{
    Module *m = find_module(ix, name);
    if (!m)
        for (Alias *a = ix->aliases[hash(name)]; a; a = a->next)
            if (!strcmp(a->pattern, name)) m = find_module(ix, a->module);
    if (!m) return -1;
    add_module(ix, m, out);
    return 0;
}

int main(int argc, char **argv)
{
    static Index ix;
    const char *list = NULL;
    int at = 1, missing = 0;
    if (at + 1 < argc && !strcmp(argv[at], "-l")) {
        list = argv[at + 1];
        at += 2;
    }
    if (load_index(&ix) < 0) {
        fprintf(stderr, "modinst: no index of modules\n");
        return 2;
    }
    if (list) read_added(&ix, list);
    FILE *out = list ? fopen(list, "a") : stdout;
    if (!out) return 2;
    for (; at < argc; at++)
        if (install(&ix, argv[at], out) < 0) missing++;
    if (out != stdout) fclose(out);
    return missing != 0;
}
