// Tells the thread sanitizer about the contended path of Swift's Mutex on Linux.
//
// An uncontended lock is inlined into our code and seen. Under contention the lock changes hands in the kernel, inside
// libswiftSynchronization.so, which is not instrumented: without this, whatever a Mutex protects is reported as a race.
// Preloaded by `make soak`, in front of the library; the names are those of Synchronization._MutexHandle, ABI stable.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Null in a process without the sanitizer, such as `swift test` itself.
void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "tsan-mutex: this Swift has no %s\n", name);
        abort();
    }
    return found;
}

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void lock_slow(uint32_t thread, SELF) {
    ((SWIFT void (*)(uint32_t, SELF))next(LOCK))(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT void unlock_slow(SELF) __asm__(UNLOCK);
SWIFT void unlock_slow(SELF) {
    if (__tsan_release) __tsan_release(self);
    ((SWIFT void (*)(SELF))next(UNLOCK))(self);
}
