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

struct queued {
    struct commit *item;
    unsigned long number;
};

/* commits, newest first */
struct queue {
    struct queued *heap;
    size_t n, room;
    unsigned long numbers;
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

static int before(const struct queued *a, const struct queued *b)
{
    return a->item->date != b->item->date ? a->item->date > b->item->date : a->number < b->number;
}

static void queue_put(struct queue *q, struct commit *item)
{
    if (q->n == q->room) {
        q->room = q->room ? 2 * q->room : 64;
        q->heap = realloc(q->heap, q->room * sizeof *q->heap);
        if (!q->heap)
            die("realloc");
    }
    struct queued added = { item, q->numbers++ };
    size_t i = q->n++;
    while (i && before(&added, &q->heap[(i - 1) / 2])) {
        q->heap[i] = q->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    q->heap[i] = added;
}

static struct commit *queue_get(struct queue *q)
{
    if (!q->n)
        return NULL;
    struct commit *item = q->heap[0].item;
    struct queued last = q->heap[--q->n];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < q->n) {
        if (child + 1 < q->n && before(&q->heap[child + 1], &q->heap[child]))
            child++;
        if (!before(&q->heap[child], &last))
            break;
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = last;
    return item;
}

static unsigned read_refs(const char *path, struct queue *queue)
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
        queue_put(queue, c);
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
    struct queue queue = { 0 };
    struct commit *c;
    unsigned long commits = 0, merges = 0, per_year[200] = { 0 };
    uint64_t sum = 0;
    read_commits(argc > 1 ? argv[1] : "data/commits.txt");
    unsigned refs = read_refs(argc > 2 ? argv[2] : "data/refs.txt", &queue);
    while ((c = queue_get(&queue))) {
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
            queue_put(&queue, p);
        }
    }
    printf("%u refs, %lu commits, %lu merges, checksum %016llx\n", refs, commits, merges, (unsigned long long)sum);
    for (int y = 0; y < 200; y++)
        if (per_year[y])
            printf("  %d: %lu\n", 1900 + y, per_year[y]);
    show_authors();
    return 0;
}
