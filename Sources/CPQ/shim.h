#pragma once
// Debian keeps it in a folder of its own, others do not.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif
