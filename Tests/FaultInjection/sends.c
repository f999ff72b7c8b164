// A socket that the kernel has no memory for.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>

#define LARGE 4096

typedef ssize_t (*sender)(int, const void *, size_t, int);

ssize_t send(int socket, const void *bytes, size_t size, int flags) {
    static atomic_uint calls;
    sender next = (sender)dlsym(RTLD_NEXT, "send");
    if (!next) abort();
    if (size >= LARGE && getenv("HOLDFAST_FAULT_SENDS") && atomic_fetch_add(&calls, 1) % 3) {
        errno = ENOBUFS;
        return -1;
    }
    return next(socket, bytes, size, flags);
}
