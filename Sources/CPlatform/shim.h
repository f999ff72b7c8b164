// What the kernel and the C library offer but Swift cannot import: variadic calls and calls without a wrapper.
#pragma once
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// memfd_secret(2): memory that the kernel removes from its own map. glibc 2.36 has no wrapper.
static inline int cplatform_memfd_secret(void) {
#if defined(SYS_memfd_secret)
    long number = SYS_memfd_secret;
#elif defined(__x86_64__) || defined(__aarch64__)
    long number = 447;
#else
    errno = ENOSYS;
    return -1;
#endif
#if defined(SYS_memfd_secret) || defined(__x86_64__) || defined(__aarch64__)
    return (int)syscall(number, 02000000 /* O_CLOEXEC */);
#endif
}

static inline int cplatform_set_dumpable(int dumpable) { return prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0); }
static inline int cplatform_get_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }
#endif

// explicit_bzero under one name on both systems; the compiler may not drop it.
static inline void cplatform_wipe(void *bytes, size_t count) {
#if defined(__APPLE__)
    memset_s(bytes, count, 0, count);
#else
    explicit_bzero(bytes, count);
#endif
}
