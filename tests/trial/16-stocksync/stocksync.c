/* stocksync - apply a day of stock movements to a local SQLite inventory. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct movement {
    int day;
    char sku[24];
    char site[12];
    int delta;
};

struct feed {
    struct movement *rows;
    size_t count, cap;
};

static void check(sqlite3 *db, int rc, const char *what)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW) {
        fprintf(stderr, "stocksync: %s: %s\n", what, sqlite3_errmsg(db));
        exit(1);
    }
}

static void exec_sql(sqlite3 *db, const char *sql)
{
    check(db, sqlite3_exec(db, sql, NULL, NULL, NULL), sql);
}

static int parse_movement(const char *line, struct movement *m)
{
    return sscanf(line, "%d,%23[^,],%11[^,],%d", &m->day, m->sku, m->site, &m->delta) == 4;
}

static void load_feed(const char *path, struct feed *f)
{
    char line[256];
    struct movement m;
    FILE *in = fopen(path, "r");
    if (!in) {
        perror(path);
        exit(1);
    }
    while (fgets(line, sizeof line, in)) {
        if (!parse_movement(line, &m))
            continue;
        if (f->count == f->cap) {
            f->cap = f->cap ? f->cap * 2 : 128;
            f->rows = realloc(f->rows, f->cap * sizeof m);
        }
        f->rows[f->count++] = m;
    }
    fclose(in);
}

static sqlite3 *open_inventory(const char *path)
{
    sqlite3 *db;
    check(NULL, sqlite3_open(path, &db), "open");
    exec_sql(db, "PRAGMA journal_mode=WAL");
    exec_sql(db, "CREATE TABLE stock(sku TEXT, site TEXT, qty INTEGER, PRIMARY KEY(sku, site));"
                 "CREATE TABLE journal(id INTEGER PRIMARY KEY, day INTEGER, sku TEXT, site TEXT, delta INTEGER);");
    return db;
}

static void apply_movement(sqlite3_stmt *upsert, sqlite3_stmt *journal, const struct movement *m)
{
    sqlite3 *db = sqlite3_db_handle(upsert);
    sqlite3_bind_text(upsert, 1, m->sku, -1, SQLITE_STATIC);
    sqlite3_bind_text(upsert, 2, m->site, -1, SQLITE_STATIC);
    sqlite3_bind_int(upsert, 3, m->delta);
    check(db, sqlite3_step(upsert), "upsert");
    sqlite3_reset(upsert);
    sqlite3_bind_int(journal, 1, m->day);
    sqlite3_bind_text(journal, 2, m->sku, -1, SQLITE_STATIC);
    sqlite3_bind_text(journal, 3, m->site, -1, SQLITE_STATIC);
    sqlite3_bind_int(journal, 4, m->delta);
    check(db, sqlite3_step(journal), "journal");
    sqlite3_reset(journal);
}

static void apply_feed(sqlite3 *db, const struct feed *f)
{
    sqlite3_stmt *upsert, *journal;
    check(db, sqlite3_prepare_v2(db,
        "INSERT INTO stock VALUES(?1,?2,?3) ON CONFLICT(sku,site) DO UPDATE SET qty = qty + ?3", -1, &upsert, NULL), "prepare");
    check(db, sqlite3_prepare_v2(db,
        "INSERT INTO journal(day,sku,site,delta) VALUES(?1,?2,?3,?4)", -1, &journal, NULL), "prepare");
    for (size_t i = 0; i < f->count; i++)
        apply_movement(upsert, journal, &f->rows[i]);
    sqlite3_finalize(upsert);
    sqlite3_finalize(journal);
}

static void print_report(sqlite3 *db)
{
    sqlite3_stmt *st;
    check(db, sqlite3_prepare_v2(db,
        "SELECT s.site, count(*), sum(s.qty), (SELECT count(*) FROM journal j WHERE j.site = s.site)"
        " FROM stock s GROUP BY s.site ORDER BY s.site", -1, &st, NULL), "report");
    while (sqlite3_step(st) == SQLITE_ROW)
        printf("%-10s skus %d qty %d movements %d\n", (const char *)sqlite3_column_text(st, 0),
               sqlite3_column_int(st, 1), sqlite3_column_int(st, 2), sqlite3_column_int(st, 3));
    sqlite3_finalize(st);
}

int main(int argc, char **argv)
{
    struct feed feed = { 0 };
    const char *tmp = getenv("TMPDIR");
    char dir[256], path[300];
    snprintf(dir, sizeof dir, "%s/stocksync-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(dir)) {
        perror(dir);
        return 1;
    }
    snprintf(path, sizeof path, "%s/inventory.db", dir);
    load_feed(argc > 1 ? argv[1] : "data/movements.csv", &feed);
    sqlite3 *db = open_inventory(path);
    apply_feed(db, &feed);
    print_report(db);
    sqlite3_close(db);
    unlink(path);
    rmdir(dir);
    printf("%zu movements\n", feed.count);
    free(feed.rows);
    return 0;
}
