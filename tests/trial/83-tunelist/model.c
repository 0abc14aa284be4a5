#include "model.h"
#include <stdlib.h>
#include <string.h>

char *copy_text(const unsigned char *s)
{
    return strdup(s ? (const char *)s : "");
}

void attrs_add(struct attrs *a, const char *key, const char *value)
{
    if (a->n == a->cap) {
        a->cap = a->cap ? a->cap * 2 : 4;
        a->v = realloc(a->v, a->cap * sizeof *a->v);
    }
    a->v[a->n].key = strdup(key);
    a->v[a->n++].value = strdup(value);
}

const char *attrs_get(const struct attrs *a, const char *key)
{
    for (size_t i = 0; i < a->n; i++)
        if (!strcmp(a->v[i].key, key))
            return a->v[i].value;
    return NULL;
}

void attrs_free(struct attrs *a)
{
    for (size_t i = 0; i < a->n; i++) {
        free(a->v[i].key);
        free(a->v[i].value);
    }
    free(a->v);
}

void album_free(struct album *al)
{
    if (!al)
        return;
    free(al->album), free(al->albumartist), free(al->genre), free(al->label), free(al->country);
    attrs_free(&al->flex);
    free(al);
}

void item_free(struct item *it)
{
    free(it->title), free(it->artist), free(it->format), free(it->path);
    attrs_free(&it->flex);
    album_free(it->album);
    free(it);
}
