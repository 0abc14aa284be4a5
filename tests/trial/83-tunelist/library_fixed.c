/* The library in its SQLite database. */
#include "library.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEM_FIELDS "id, album_id, title, artist, track, disc, length, bitrate, format, path, added"
#define ALBUM_FIELDS "id, album, albumartist, year, genre, label, country"

int library_open(struct library *lib, const char *path)
{
    if (sqlite3_open_v2(path, &lib->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", path, sqlite3_errmsg(lib->db));
        return -1;
    }
    return 0;
}

void library_close(struct library *lib)
{
    sqlite3_close(lib->db);
}

static sqlite3_stmt *query(struct library *lib, const char *sql)
{
    sqlite3_stmt *st = NULL;
    if (sqlite3_prepare_v2(lib->db, sql, -1, &st, NULL) != SQLITE_OK)
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(lib->db));
    return st;
}

/* The attributes of all entities of the query, in the order of their ids: one query instead of one for each. */
struct flex_reader { sqlite3_stmt *st; int row; };

static void flex_start(struct library *lib, struct flex_reader *r, const char *table, const char *ids)
{
    char sql[600];
    snprintf(sql, sizeof sql, "SELECT entity_id, key, value FROM %s WHERE entity_id IN (%s) ORDER BY entity_id, id", table, ids);
    r->st = query(lib, sql);
    r->row = sqlite3_step(r->st);
}

static void flex_take(struct flex_reader *r, long id, struct attrs *flex)
{
    while (r->row == SQLITE_ROW && sqlite3_column_int64(r->st, 0) < id)
        r->row = sqlite3_step(r->st);
    for (; r->row == SQLITE_ROW && sqlite3_column_int64(r->st, 0) == id; r->row = sqlite3_step(r->st))
        attrs_add(flex, (const char *)sqlite3_column_text(r->st, 1), (const char *)sqlite3_column_text(r->st, 2));
}

static struct album *album_row(sqlite3_stmt *st)
{
    struct album *al = calloc(1, sizeof *al);
    al->id = sqlite3_column_int64(st, 0);
    al->album = copy_text(sqlite3_column_text(st, 1));
    al->albumartist = copy_text(sqlite3_column_text(st, 2));
    al->year = sqlite3_column_int(st, 3);
    al->genre = copy_text(sqlite3_column_text(st, 4));
    al->label = copy_text(sqlite3_column_text(st, 5));
    al->country = copy_text(sqlite3_column_text(st, 6));
    return al;
}

struct albums { struct album **by_id; long max; };

static void load_albums(struct library *lib, const char *ids, struct albums *all)
{
    char sql[600];
    struct flex_reader flex;
    snprintf(sql, sizeof sql, "SELECT " ALBUM_FIELDS " FROM albums WHERE id IN (%s) ORDER BY id", ids);
    sqlite3_stmt *st = query(lib, sql);
    flex_start(lib, &flex, "album_attributes", ids);
    all->by_id = NULL;
    all->max = 0;
    while (sqlite3_step(st) == SQLITE_ROW) {
        struct album *al = album_row(st);
        flex_take(&flex, al->id, &al->flex);
        if (al->id >= all->max) {
            long max = (al->id + 1) * 2;
            all->by_id = realloc(all->by_id, max * sizeof *all->by_id);
            memset(all->by_id + all->max, 0, (max - all->max) * sizeof *all->by_id);
            all->max = max;
        }
        all->by_id[al->id] = al;
    }
    sqlite3_finalize(flex.st);
    sqlite3_finalize(st);
}

static struct item *item_row(sqlite3_stmt *st)
{
    struct item *it = calloc(1, sizeof *it);
    it->id = sqlite3_column_int64(st, 0);
    it->album_id = sqlite3_column_int64(st, 1);
    it->title = copy_text(sqlite3_column_text(st, 2));
    it->artist = copy_text(sqlite3_column_text(st, 3));
    it->track = sqlite3_column_int(st, 4);
    it->disc = sqlite3_column_int(st, 5);
    it->length = sqlite3_column_double(st, 6);
    it->bitrate = sqlite3_column_int(st, 7);
    it->format = copy_text(sqlite3_column_text(st, 8));
    it->path = copy_text(sqlite3_column_text(st, 9));
    it->added = sqlite3_column_int64(st, 10);
    return it;
}

int library_items(struct library *lib, const char *where, struct results *out)
{
    char sql[400];
    snprintf(sql, sizeof sql, "SELECT " ITEM_FIELDS " FROM items WHERE %s ORDER BY id", where);
    sqlite3_stmt *st = query(lib, sql);
    if (!st)
        return -1;
    char ids[300];
    struct flex_reader flex;
    struct albums all;
    snprintf(ids, sizeof ids, "SELECT id FROM items WHERE %s", where);
    flex_start(lib, &flex, "item_attributes", ids);
    snprintf(ids, sizeof ids, "SELECT album_id FROM items WHERE %s", where);
    load_albums(lib, ids, &all);
    while (sqlite3_step(st) == SQLITE_ROW) {
        if (out->n == out->cap) {
            out->cap = out->cap ? out->cap * 2 : 256;
            out->v = realloc(out->v, out->cap * sizeof *out->v);
        }
        struct item *it = item_row(st);
        flex_take(&flex, it->id, &it->flex);
        it->album = it->album_id < all.max ? all.by_id[it->album_id] : NULL;
        out->v[out->n++] = it;
    }
    sqlite3_finalize(flex.st);
    sqlite3_finalize(st);
    free(all.by_id);
    return 0;
}
