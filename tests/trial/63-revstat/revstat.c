/* revstat: walks the history that is reachable from a list of refs, newest commit first, and prints statistics of it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUCKETS (1 << 16)
#define MAX_PARENTS 4
#define SEEN 1u
#define TIP 2u

struct author {
    char *name;
    unsigned long commits, tips;
    struct author *next;
};

struct commit {
    uint64_t id;
    long date;
    struct author *author;
    uint64_t parent_ids[MAX_PARENTS];
    unsigned n_parents;
    unsigned flags;
    struct commit *hash_next;
};

struct commit_list {
    struct commit *item;
    struct commit_list *next;
};

static struct commit *table[BUCKETS];
static struct author *authors;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static struct commit *lookup_commit(uint64_t id)
{
    struct commit *c = table[id % BUCKETS];
    while (c && c->id != id)
        c = c->hash_next;
    return c;
}

static struct author *author_named(const char *name)
{
    struct author *a;
    for (a = authors; a; a = a->next)
        if (!strcmp(a->name, name))
            return a;
    a = calloc(1, sizeof *a);
    a->name = strdup(name);
    a->next = authors;
    return authors = a;
}

static void parse_commit(char *line)
{
    struct commit *c = calloc(1, sizeof *c);
    char *rest, *word;
    if (!c)
        die("calloc");
    c->id = strtoull(line, &rest, 16);
    c->date = strtol(rest, &rest, 10);
    word = strtok(rest, " \n");
    c->author = author_named(word ? word : "unknown");
    while ((word = strtok(NULL, " \n")) && c->n_parents < MAX_PARENTS)
        c->parent_ids[c->n_parents++] = strtoull(word, NULL, 16);
    c->hash_next = table[c->id % BUCKETS];
    table[c->id % BUCKETS] = c;
}

static void read_commits(const char *path)
{
    FILE *f = fopen(path, "r");
    char line[512];
    if (!f)
        die(path);
    while (fgets(line, sizeof line, f))
        parse_commit(line);
    fclose(f);
}

static struct commit_list *commit_list_insert_by_date(struct commit *item, struct commit_list **list)
{
    struct commit_list **at = list, *p;
    while ((p = *at) != NULL && p->item->date >= item->date)
        at = &p->next;
    p = malloc(sizeof *p);
    if (!p)
        die("malloc");
    p->item = item;
    p->next = *at;
    return *at = p;
}

static struct commit *pop_commit(struct commit_list **list)
{
    struct commit_list *top = *list;
    struct commit *item = top ? top->item : NULL;
    if (top) {
        *list = top->next;
        free(top);
    }
    return item;
}

static unsigned read_refs(const char *path, struct commit_list **queue)
{
    FILE *f = fopen(path, "r");
    char line[512];
    unsigned n = 0;
    if (!f)
        die(path);
    while (fgets(line, sizeof line, f)) {
        struct commit *c = lookup_commit(strtoull(line, NULL, 16));
        if (!c || c->flags & SEEN)
            continue;
        c->flags |= SEEN | TIP;
        commit_list_insert_by_date(c, queue);
        n++;
    }
    fclose(f);
    return n;
}

static int by_commits(const void *a, const void *b)
{
    const struct author *x = *(struct author *const *)a, *y = *(struct author *const *)b;
    if (x->commits != y->commits)
        return x->commits < y->commits ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void show_authors(void)
{
    size_t n = 0, i = 0;
    for (struct author *a = authors; a; a = a->next)
        n++;
    struct author **all = malloc(n * sizeof *all);
    for (struct author *a = authors; a; a = a->next)
        all[i++] = a;
    qsort(all, n, sizeof *all, by_commits);
    for (i = 0; i < n && i < 8; i++)
        printf("  %-10s %5lu commits, %5lu tips\n", all[i]->name, all[i]->commits, all[i]->tips);
    free(all);
}

int main(int argc, char **argv)
{
    struct commit_list *queue = NULL;
    struct commit *c;
    unsigned long commits = 0, merges = 0, per_year[200] = { 0 };
    uint64_t sum = 0;
    read_commits(argc > 1 ? argv[1] : "data/commits.txt");
    unsigned refs = read_refs(argc > 2 ? argv[2] : "data/refs.txt", &queue);
    while ((c = pop_commit(&queue))) {
        time_t when = c->date;
        struct tm tm;
        gmtime_r(&when, &tm);
        per_year[tm.tm_year % 200]++;
        commits++;
        merges += c->n_parents > 1;
        c->author->commits++;
        c->author->tips += (c->flags & TIP) != 0;
        sum = sum * 1099511628211u ^ c->id;
        for (unsigned i = 0; i < c->n_parents; i++) {
            struct commit *p = lookup_commit(c->parent_ids[i]);
            if (!p || p->flags & SEEN)
                continue;
            p->flags |= SEEN;
            commit_list_insert_by_date(p, &queue);
        }
    }
    printf("%u refs, %lu commits, %lu merges, checksum %016llx\n", refs, commits, merges, (unsigned long long)sum);
    for (int y = 0; y < 200; y++)
        if (per_year[y])
            printf("  %d: %lu\n", 1900 + y, per_year[y]);
    show_authors();
    return 0;
}
