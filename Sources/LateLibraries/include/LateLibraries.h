#pragma once

/// Loads every library that a vault needs, or ends the process: before something is done that must not be cut short by a
/// library that is missing, and before a program serves anybody. Only on Linux.
void late_load_all(void);

/// The same for what the identity server needs: all but LMDB.
void late_load_server(void);

// In a shim, before the headers of a library and between the list of what is used of it: each call of a function in the
// list goes to `late_NAME` (late.c).
#define LATE_TEXT(text) _Pragma(#text)
#define LATE_NAME(name) LATE_TEXT(redefine_extname name late_##name)
