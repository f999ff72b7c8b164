// The shim's branch for Apple's systems. The system's own headers are kept out (their guards are set), so that no name of
// glibc comes with it.
#pragma once
#define _ERRNO_H 1
#define _PTHREAD_H 1
#define _STRING_H 1
#define _SYS_MMAN_H 1
#include <stddef.h>
#undef __linux__
#define __APPLE__ 1
extern int darwin_memset_s(void *bytes, size_t size, int value, size_t count);
#define memset_s darwin_memset_s
#include "../../../Sources/CPlatform/shim.h"
#undef __APPLE__
#define __linux__ 1
