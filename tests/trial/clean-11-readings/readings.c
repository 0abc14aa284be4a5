/* readings - bulk-load sensor readings into SQLite and report per sensor. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct reading {
    int sensor;
    long long at;
    double value;
    char quality[8];
};

static void check(sqlite3 *db, int rc)
{
    if (rc != SQLITE_OK && rc != SQLITE_ROW && rc != SQLITE_DONE) {
        fprintf(stderr, "readings: %s\n", sqlite3_errmsg(db));
        exit(1);
    }
}

static void run(sqlite3 *db, const char *sql)
{
    check(db, sqlite3_exec(db, sql, NULL, NULL, NULL));
}

static int next_reading(FILE *in, struct reading *r)
{
    char line[128];
    while (fgets(line, sizeof line, in)) {
        char *p, *e;
        r->sensor = (int)strtol(line, &p, 10);
        if (*p++ != ',')
            continue;
        r->at = strtoll(p, &e, 10);
        if (*e++ != ',')
            continue;
        r->value = strtod(e, &p);
        if (*p++ != ',')
            continue;
        int n = 0;
        while (n < 7 && p[n] > ' ') {
            r->quality[n] = p[n];
            n++;
        }
        r->quality[n] = '\0';
        return 1;
    }
    return 0;
}

static long load(sqlite3 *db, FILE *in)
{
    sqlite3_stmt *st;
    struct reading r;
    long n = 0;
    check(db, sqlite3_prepare_v2(db, "INSERT INTO reading(sensor, at, value, quality) VALUES(?,?,?,?)", -1, &st, NULL));
    run(db, "BEGIN");
    while (next_reading(in, &r)) {
        sqlite3_bind_int(st, 1, r.sensor);
        sqlite3_bind_int64(st, 2, r.at);
        sqlite3_bind_double(st, 3, r.value);
        sqlite3_bind_text(st, 4, r.quality, -1, SQLITE_STATIC);
        check(db, sqlite3_step(st));
        sqlite3_reset(st);
        n++;
    }
    run(db, "COMMIT");
    sqlite3_finalize(st);
    return n;
}

static void report(sqlite3 *db)
{
    sqlite3_stmt *st;
    check(db, sqlite3_prepare_v2(db,
        "SELECT sensor, count(*), avg(value), min(value), max(value), sum(quality <> 'ok') FROM reading"
        " GROUP BY sensor ORDER BY avg(value) DESC LIMIT 10", -1, &st, NULL));
    while (sqlite3_step(st) == SQLITE_ROW)
        printf("sensor %3d n=%d avg=%.3f min=%.2f max=%.2f bad=%d\n", sqlite3_column_int(st, 0),
               sqlite3_column_int(st, 1), sqlite3_column_double(st, 2), sqlite3_column_double(st, 3),
               sqlite3_column_double(st, 4), sqlite3_column_int(st, 5));
    sqlite3_finalize(st);
}

int main(int argc, char **argv)
{
    const char *input = argc > 1 ? argv[1] : "data/readings.csv", *tmp = getenv("TMPDIR");
    char dir[256], path[300];
    sqlite3 *db;
    snprintf(dir, sizeof dir, "%s/readings-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    FILE *in = fopen(input, "r");
    if (!in || !mkdtemp(dir)) {
        perror(input);
        return 1;
    }
    snprintf(path, sizeof path, "%s/readings.db", dir);
    check(NULL, sqlite3_open(path, &db));
    run(db, "CREATE TABLE reading(id INTEGER PRIMARY KEY, sensor INTEGER, at INTEGER, value REAL, quality TEXT)");
    long n = load(db, in);
    run(db, "CREATE INDEX reading_sensor ON reading(sensor, at)");
    report(db);
    fclose(in);
    sqlite3_close(db);
    unlink(path);
    rmdir(dir);
    printf("%ld readings\n", n);
    return 0;
}
