#pragma once
#include <sqlite3.h>

// Macros that cast a number to a pointer do not import; neither do variadic functions.
static inline int csqlite_bind_copy(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}
