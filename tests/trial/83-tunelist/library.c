/* The library in its SQLite database. */
#include "library.h"
#include <stdio.h>
#include <stdlib.h>

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

static void load_flex(struct library *lib, const char *table, long id, struct attrs *flex)
{
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT key, value FROM %s WHERE entity_id=?", table);
    sqlite3_stmt *st = query(lib, sql);
    sqlite3_bind_int64(st, 1, id);
    while (sqlite3_step(st) == SQLITE_ROW)
        attrs_add(flex, (const char *)sqlite3_column_text(st, 0), (const char *)sqlite3_column_text(st, 1));
    sqlite3_finalize(st);
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

static struct album *get_album(struct library *lib, long id)
{
    sqlite3_stmt *st = query(lib, "SELECT " ALBUM_FIELDS " FROM albums WHERE id=?");
    struct album *al = NULL;
    sqlite3_bind_int64(st, 1, id);
    if (sqlite3_step(st) == SQLITE_ROW)
        al = album_row(st);
    sqlite3_finalize(st);
    if (al)
        load_flex(lib, "album_attributes", id, &al->flex);
    return al;
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
    while (sqlite3_step(st) == SQLITE_ROW) {
        if (out->n == out->cap) {
            out->cap = out->cap ? out->cap * 2 : 256;
            out->v = realloc(out->v, out->cap * sizeof *out->v);
        }
        struct item *it = item_row(st);
        load_flex(lib, "item_attributes", it->id, &it->flex);
        it->album = get_album(lib, it->album_id);
        out->v[out->n++] = it;
    }
    sqlite3_finalize(st);
    return 0;
}
