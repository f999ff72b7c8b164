#include "WipingHeap.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HAS_OTHER_HEAP 1
#endif
#endif

#if defined(__GLIBC__) && !defined(HAS_OTHER_HEAP)
#include <malloc.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

int wiping_heap_is_active(void) { return 1; }

// All of the family is here, though only two wipe: no library that is loaded may bring another half of it.

void *malloc(size_t size) { return __libc_malloc(size); }

void *calloc(size_t count, size_t size) { return __libc_calloc(count, size); }

void free(void *block) {
    if (!block) return;
    int error = errno; // free leaves it as it is
    explicit_bzero(block, malloc_usable_size(block));
    __libc_free(block);
    errno = error;
}

void *realloc(void *block, size_t size) {
    if (!block) return __libc_malloc(size);
    if (size == 0) {
        free(block);
        return NULL;
    }
    size_t room = malloc_usable_size(block);
    // What is no longer wanted is wiped where it lies, and the block stays, unless most of it would be wasted.
    if (size <= room && (room - size <= 4096 || size > room / 2)) {
        explicit_bzero((char *)block + size, room - size);
        return block;
    }
    void *moved = __libc_malloc(size);
    if (!moved) return NULL;
    memcpy(moved, block, size < room ? size : room);
    free(block);
    return moved;
}

void *memalign(size_t alignment, size_t size) { return __libc_memalign(alignment, size); }

void *aligned_alloc(size_t alignment, size_t size) { return __libc_memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    int error = errno;
    void *made = __libc_memalign(alignment, size);
    errno = error;
    if (!made) return ENOMEM;
    *block = made;
    return 0;
}

#else

int wiping_heap_is_active(void) { return 0; }

#endif
