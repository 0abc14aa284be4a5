/* Keeps a wallet in an SQLite file: derives keys from a seed, tops up the pool of unused keys, hands keys out
   for payments, marks them as used when a payment is seen, and writes a report at the end. */
#include <openssl/sha.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POOL_TARGET 500
#define ROUNDS 3
#define KEYS_PER_ROUND 300

typedef struct {
    uint8_t secret[32];
    uint8_t id[20];
    int64_t created;
    uint32_t index;
    int internal;
} Key;

typedef struct {
    sqlite3 *db;
    sqlite3_stmt *put, *get, *del;
    char path[256];
    uint8_t seed[32];
    uint32_t next_index;
    int64_t pool_low, pool_high;      /* first and one past the last index in the pool */
    int64_t clock;
} Wallet;

static void die(Wallet *w, const char *what)
{
    fprintf(stderr, "keypool: %s: %s\n", what, w && w->db ? sqlite3_errmsg(w->db) : "");
    exit(1);
}

static void db_exec(Wallet *w, const char *sql)
{
    if (sqlite3_exec(w->db, sql, NULL, NULL, NULL) != SQLITE_OK) die(w, sql);
}

static void db_open(Wallet *w)
{
    snprintf(w->path, sizeof w->path, "wallet-%d.db", (int)getpid());
    unlink(w->path);
    if (sqlite3_open(w->path, &w->db) != SQLITE_OK) die(w, "open");
    db_exec(w, "PRAGMA synchronous=FULL");
    db_exec(w, "CREATE TABLE main(key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID");
    sqlite3_prepare_v2(w->db, "INSERT OR REPLACE INTO main VALUES(?1, ?2)", -1, &w->put, NULL);
    sqlite3_prepare_v2(w->db, "SELECT value FROM main WHERE key = ?1", -1, &w->get, NULL);
    sqlite3_prepare_v2(w->db, "DELETE FROM main WHERE key = ?1", -1, &w->del, NULL);
    if (!w->put || !w->get || !w->del) die(w, "prepare");
}

static void db_close(Wallet *w)
{
    sqlite3_finalize(w->put);
    sqlite3_finalize(w->get);
    sqlite3_finalize(w->del);
    sqlite3_close(w->db);
    unlink(w->path);
}

static void db_put(Wallet *w, const void *key, int klen, const void *value, int vlen)
{
    sqlite3_bind_blob(w->put, 1, key, klen, SQLITE_STATIC);
    sqlite3_bind_blob(w->put, 2, value, vlen, SQLITE_STATIC);
    if (sqlite3_step(w->put) != SQLITE_DONE) die(w, "put");
    sqlite3_reset(w->put);
}

static int db_get(Wallet *w, const void *key, int klen, void *out, int max)
{
    int n = -1;
    sqlite3_bind_blob(w->get, 1, key, klen, SQLITE_STATIC);
    if (sqlite3_step(w->get) == SQLITE_ROW) {
        n = sqlite3_column_bytes(w->get, 0);
        if (n > max) n = max;
        memcpy(out, sqlite3_column_blob(w->get, 0), n);
    }
    sqlite3_reset(w->get);
    return n;
}

static void db_delete(Wallet *w, const void *key, int klen)
{
    sqlite3_bind_blob(w->del, 1, key, klen, SQLITE_STATIC);
    if (sqlite3_step(w->del) != SQLITE_DONE) die(w, "delete");
    sqlite3_reset(w->del);
}

/* ---- keys ---- */

static int record_key(char *out, const char *kind, const void *id, int len)
{
    int n = (int)strlen(kind);
    memcpy(out, kind, n);
    out[n++] = ':';
    memcpy(out + n, id, len);
    return n + len;
}

static void derive_key(Wallet *w, uint32_t index, int internal, Key *k)
{
    uint8_t buf[72], d[32];
    memcpy(buf, w->seed, 32);
    memcpy(buf + 32, &index, 4);
    memcpy(buf + 36, &internal, 4);
    SHA256(buf, 40, d);
    for (int i = 0; i < 1000; i++) {          /* stretch */
        memcpy(buf, d, 32);
        memcpy(buf + 32, w->seed, 32);
        SHA256(buf, 64, d);
    }
    memcpy(k->secret, d, 32);
    SHA256(k->secret, 32, d);
    memcpy(k->id, d, 20);
    k->index = index;
    k->internal = internal;
    k->created = w->clock;
}

static void wallet_add_key(Wallet *w, const Key *k)
{
    char name[64];
    uint8_t meta[16];
    int n = record_key(name, "key", k->id, 20);
    db_put(w, name, n, k->secret, 32);
    memcpy(meta, &k->created, 8);
    memcpy(meta + 8, &k->index, 4);
    memcpy(meta + 12, &k->internal, 4);
    n = record_key(name, "keymeta", k->id, 20);
    db_put(w, name, n, meta, 16);
}

static void wallet_add_pool(Wallet *w, const Key *k)
{
    char name[64];
    uint8_t entry[32];
    int64_t at = w->pool_high++;
    int n = record_key(name, "pool", &at, 8);
    memcpy(entry, k->id, 20);
    memcpy(entry + 20, &k->created, 8);
    memcpy(entry + 28, &k->internal, 4);
    db_put(w, name, n, entry, 32);
}

static int keypool_topup(Wallet *w, int target)
{
    int made = 0;
    char name[16];
    while (w->pool_high - w->pool_low < target) {
        Key k;
        derive_key(w, w->next_index, w->next_index % 4 == 3, &k);
        w->next_index++;
        wallet_add_key(w, &k);
        wallet_add_pool(w, &k);
        made++;
    }
    int n = record_key(name, "hdchain", "", 0);
    db_put(w, name, n, &w->next_index, 4);
    return made;
}

static int keypool_take(Wallet *w, uint8_t id[20])
{
    char name[64];
    uint8_t entry[32];
    if (w->pool_low == w->pool_high) return -1;
    int n = record_key(name, "pool", &w->pool_low, 8);
    if (db_get(w, name, n, entry, 32) != 32) die(w, "pool entry");
    db_delete(w, name, n);
    w->pool_low++;
    memcpy(id, entry, 20);
    return 0;
}

/* ---- payments ---- */

static void label_payment(Wallet *w, const uint8_t id[20], int number)
{
    char name[64], label[48];
    int n = record_key(name, "name", id, 20);
    snprintf(label, sizeof label, "invoice %05d", number);
    db_put(w, name, n, label, (int)strlen(label));
}

static int take_for_invoices(Wallet *w, int count, int first)
{
    int taken = 0;
    db_exec(w, "BEGIN");
    for (int i = 0; i < count; i++) {
        uint8_t id[20];
        if (keypool_take(w, id) < 0) break;
        label_payment(w, id, first + i);
        taken++;
    }
    db_exec(w, "COMMIT");
    return taken;
}

static void report(Wallet *w)
{
    sqlite3_stmt *s;
    SHA256_CTX c;
    uint8_t d[32];
    int rows = 0;
    int64_t bytes = 0;
    SHA256_Init(&c);
    sqlite3_prepare_v2(w->db, "SELECT key, value FROM main ORDER BY key", -1, &s, NULL);
    while (sqlite3_step(s) == SQLITE_ROW) {
        for (int i = 0; i < 2; i++) {
            SHA256_Update(&c, sqlite3_column_blob(s, i), sqlite3_column_bytes(s, i));
            bytes += sqlite3_column_bytes(s, i);
        }
        rows++;
    }
    sqlite3_finalize(s);
    SHA256_Final(d, &c);
    printf("records %d, bytes %lld, digest ", rows, (long long)bytes);
    for (int i = 0; i < 8; i++) printf("%02x", d[i]);
    printf("\n");
}

int main(void)
{
    Wallet w = { .clock = 1700000000 };
    SHA256((const uint8_t *)"correct horse", 13, w.seed);
    db_open(&w);
    for (int r = 0; r < ROUNDS; r++) {
        int made = keypool_topup(&w, POOL_TARGET);
        int taken = take_for_invoices(&w, KEYS_PER_ROUND, r * KEYS_PER_ROUND);
        w.clock += 600;
        printf("round %d: %d keys made, %d taken, pool %lld\n", r, made, taken, (long long)(w.pool_high - w.pool_low));
    }
    report(&w);
    db_close(&w);
    return 0;
}
