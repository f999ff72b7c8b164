#define _GNU_SOURCE
#define SQLITE_HAS_CODEC 1
#include "raw_loops.h"
#include <dlfcn.h>
#include <sqlcipher/sqlite3.h>
#include <stdlib.h>

// The identity server brings libsqlite3 into the same program, whose functions have the same names and take no key:
// these are SQLCipher's, and it calls its own (RTLD_DEEPBIND).
#define FUNCTIONS(F) \
    F(sqlite3_open) F(sqlite3_close) F(sqlite3_exec) F(sqlite3_prepare_v2) F(sqlite3_finalize) F(sqlite3_step) \
    F(sqlite3_reset) F(sqlite3_bind_text) F(sqlite3_bind_blob) F(sqlite3_column_blob) F(sqlite3_column_bytes)

#define DECLARE(name) static __typeof__(&name) cipher_##name;
FUNCTIONS(DECLARE)

static int load(void) {
    void *library = dlopen("libsqlcipher.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!library) library = dlopen("libsqlcipher.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!library || !dlsym(library, "sqlite3_key")) return 0;
#define FIND(name) \
    if (!(cipher_##name = (__typeof__(&name))dlsym(library, #name))) return 0;
    FUNCTIONS(FIND)
    return 1;
}

struct raw_sqlcipher {
    sqlite3 *handle;
    sqlite3_stmt *insert;
    sqlite3_stmt *select;
};

// A key in this form is taken as it is: no derivation.
static const char setup[] =
    "PRAGMA key = \"x'2b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfe'\";"
    "PRAGMA journal_mode = WAL;"
    "CREATE TABLE IF NOT EXISTS records (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;";

raw_sqlcipher *raw_sqlcipher_open(const char *path) {
    if (!load()) return NULL;
    raw_sqlcipher *database = calloc(1, sizeof *database);
    if (!database) return NULL;
    int status = cipher_sqlite3_open(path, &database->handle);
    if (!status) status = cipher_sqlite3_exec(database->handle, setup, NULL, NULL, NULL);
    if (!status)
        status = cipher_sqlite3_prepare_v2(
            database->handle, "INSERT INTO records VALUES (?, ?)", -1, &database->insert, NULL);
    if (!status)
        status = cipher_sqlite3_prepare_v2(
            database->handle, "SELECT value FROM records WHERE name = ?", -1, &database->select, NULL);
    if (status) {
        raw_sqlcipher_close(database);
        return NULL;
    }
    return database;
}

void raw_sqlcipher_close(raw_sqlcipher *database) {
    cipher_sqlite3_finalize(database->insert);
    cipher_sqlite3_finalize(database->select);
    cipher_sqlite3_close(database->handle);
    free(database);
}

int raw_sqlcipher_put(
    raw_sqlcipher *database, const char *names, size_t name_size, const uint8_t *values, size_t value_size, size_t count
) {
    int status = cipher_sqlite3_exec(database->handle, "BEGIN", NULL, NULL, NULL);
    for (size_t index = 0; index < count && !status; index++) {
        cipher_sqlite3_bind_text(database->insert, 1, names + index * name_size, (int)name_size, SQLITE_STATIC);
        cipher_sqlite3_bind_blob(database->insert, 2, values + index * value_size, (int)value_size, SQLITE_STATIC);
        int stepped = cipher_sqlite3_step(database->insert);
        if (stepped != SQLITE_DONE) status = stepped;
        cipher_sqlite3_reset(database->insert);
    }
    if (!status) return cipher_sqlite3_exec(database->handle, "COMMIT", NULL, NULL, NULL);
    cipher_sqlite3_exec(database->handle, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

int raw_sqlcipher_get(raw_sqlcipher *database, const char *names, size_t name_size, size_t count, uint64_t *sum) {
    for (size_t index = 0; index < count; index++) {
        cipher_sqlite3_bind_text(database->select, 1, names + index * name_size, (int)name_size, SQLITE_STATIC);
        int stepped = cipher_sqlite3_step(database->select);
        if (stepped != SQLITE_ROW) {
            cipher_sqlite3_reset(database->select);
            return stepped == SQLITE_DONE ? SQLITE_NOTFOUND : stepped;
        }
        const uint8_t *value = cipher_sqlite3_column_blob(database->select, 0);
        if (cipher_sqlite3_column_bytes(database->select, 0) > 0) *sum += value[0];
        cipher_sqlite3_reset(database->select);
    }
    return 0;
}
