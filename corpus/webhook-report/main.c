/* Stores the events that a code host sent, one JSON document a line, and says what happened in each repository. Usage: program EVENTS */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const EXTRACT =
    "CREATE TABLE change AS SELECT json_extract(body, '$.repository.name') AS repository, json_extract(body, '$.action') AS action,"
    " json_extract(body, '$.request.number') AS number, json_extract(body, '$.request.title') AS title,"
    " json_extract(body, '$.request.author.login') AS author, json_extract(body, '$.request.draft') AS draft,"
    " json_array_length(body, '$.request.reviewers') AS reviewers, json_extract(body, '$.repository.stars') AS stars,"
    " json_extract(body, '$.repository.owner.login') AS owner, json_extract(body, '$.sender.login') AS sender,"
    " json_extract(body, '$.totals.added') AS added, json_extract(body, '$.totals.removed') AS removed,"
    " json_extract(body, '$.totals.files') AS files, json_extract(body, '$.sent') AS sent FROM event";

static const char *const REPORT =
    "SELECT repository, count(*), sum(action = 'merged'), sum(added), sum(removed), sum(files), count(DISTINCT author), sum(author <> sender),"
    " sum(draft), substr(max(sent), 1, 10) FROM change GROUP BY repository ORDER BY repository";

static int fail(sqlite3 *db, const char *what) {
    fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
    return 1;
}

static int store(sqlite3 *db, const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL) return perror(path), 1;
    if (sqlite3_exec(db, "CREATE TABLE event (id INTEGER PRIMARY KEY, body TEXT NOT NULL); BEGIN", NULL, NULL, NULL) != SQLITE_OK) return fail(db, "create");
    sqlite3_stmt *insert;
    if (sqlite3_prepare_v2(db, "INSERT INTO event (body) VALUES (?)", -1, &insert, NULL) != SQLITE_OK) return fail(db, "insert");
    char *line = NULL;
    size_t room = 0;
    for (ssize_t length; (length = getline(&line, &room, file)) > 0; sqlite3_reset(insert)) {
        sqlite3_bind_text(insert, 1, line, length - 1, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE) return fail(db, "insert");
    }
    free(line);
    fclose(file);
    sqlite3_finalize(insert);
    return sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(db, "commit");
}

static int extract(sqlite3 *db) {
    return sqlite3_exec(db, EXTRACT, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(db, "extract");
}

static int report(sqlite3 *db) {
    sqlite3_stmt *query;
    if (sqlite3_prepare_v2(db, REPORT, -1, &query, NULL) != SQLITE_OK) return fail(db, "report");
    int result;
    while ((result = sqlite3_step(query)) == SQLITE_ROW) {
        printf("%s: %d events, %d merged, +%d -%d in %d files, %d authors, %d by others, %d drafts, last on %s\n", sqlite3_column_text(query, 0),
               sqlite3_column_int(query, 1), sqlite3_column_int(query, 2), sqlite3_column_int(query, 3), sqlite3_column_int(query, 4),
               sqlite3_column_int(query, 5), sqlite3_column_int(query, 6), sqlite3_column_int(query, 7), sqlite3_column_int(query, 8),
               sqlite3_column_text(query, 9));
    }
    sqlite3_finalize(query);
    return result == SQLITE_DONE ? 0 : fail(db, "report");
}

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: %s EVENTS\n", argv[0]), 2;
    sqlite3 *db;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK) return fail(db, "open");
    int failed = store(db, argv[1]) || extract(db) || report(db);
    sqlite3_close(db);
    return failed;
}
