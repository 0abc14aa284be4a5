/* tunelist: lists the items of the library in an order and a format, then sums up by genre and by mood. */
#include "library.h"
#include "template.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_artist(const void *a, const void *b)
{
    const struct item *x = *(struct item *const *)a, *y = *(struct item *const *)b;
    int c = strcmp(x->album->albumartist, y->album->albumartist);
    if (!c) c = x->album->year - y->album->year;
    if (!c) c = strcmp(x->album->album, y->album->album);
    if (!c) c = x->album_id < y->album_id ? -1 : x->album_id > y->album_id;
    return c ? c : x->track - y->track;
}

struct sum { const char *name; int items; double length; long plays; };

static void sum_add(struct sum *sums, size_t *n, const char *name, const struct item *it)
{
    size_t i = 0;
    const char *plays = attrs_get(&it->flex, "play_count");
    while (i < *n && strcmp(sums[i].name, name))
        i++;
    if (i == *n)
        sums[(*n)++] = (struct sum){name, 0, 0, 0};
    sums[i].items++;
    sums[i].length += it->length;
    sums[i].plays += plays ? atol(plays) : 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct sum *)a)->name, ((const struct sum *)b)->name);
}

static void summary(const struct results *r)
{
    struct sum genres[32], moods[32];
    size_t ng = 0, nm = 0;
    for (size_t i = 0; i < r->n; i++) {
        const char *mood = attrs_get(&r->v[i]->flex, "mood");
        sum_add(genres, &ng, r->v[i]->album->genre, r->v[i]);
        sum_add(moods, &nm, mood ? mood : "(none)", r->v[i]);
    }
    qsort(genres, ng, sizeof *genres, by_name);
    qsort(moods, nm, sizeof *moods, by_name);
    for (size_t i = 0; i < ng; i++)
        printf("genre %s: %d items, %.0f s, %ld plays\n", genres[i].name, genres[i].items, genres[i].length, genres[i].plays);
    for (size_t i = 0; i < nm; i++)
        printf("mood %s: %d items, %.0f s, %ld plays\n", moods[i].name, moods[i].items, moods[i].length, moods[i].plays);
}

static void list(const struct results *r, const char *format)
{
    char line[1024];
    for (size_t i = 0; i < r->n; i++) {
        template_expand(format, r->v[i], line, sizeof line);
        puts(line);
    }
}

int main(int argc, char **argv)
{
    struct library lib;
    struct results r = {0};
    const char *where = argc > 1 ? argv[1] : "length > 95";
    const char *format = argc > 2 ? argv[2] : "$albumartist - $year $album - $track $title [$format $bitrate] $length ${mood}/${bpm}/$rating $play_count";
    if (library_open(&lib, "data/library.db") || library_items(&lib, where, &r))
        return 1;
    qsort(r.v, r.n, sizeof *r.v, by_artist);
    list(&r, format);
    summary(&r);
    printf("%zu items\n", r.n);
    for (size_t i = 0; i < r.n; i++)
        item_free(r.v[i]);
    free(r.v);
    library_close(&lib);
    return 0;
}
