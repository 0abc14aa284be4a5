/* Items and albums of a music library: fixed fields and flexible attributes. */
#ifndef MODEL_H
#define MODEL_H
#include <stddef.h>

struct attr { char *key, *value; };

struct attrs { struct attr *v; size_t n, cap; };

struct album {
    long id;
    char *album, *albumartist, *genre, *label, *country;
    int year;
    struct attrs flex;
};

struct item {
    long id, album_id, added;
    char *title, *artist, *format, *path;
    int track, disc, bitrate;
    double length;
    struct attrs flex;
    struct album *album;
};

struct results { struct item **v; size_t n, cap; };

void attrs_add(struct attrs *a, const char *key, const char *value);
const char *attrs_get(const struct attrs *a, const char *key);
void attrs_free(struct attrs *a);
void item_free(struct item *it);
void album_free(struct album *al);
char *copy_text(const unsigned char *s);
#endif
