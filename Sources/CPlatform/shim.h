// What the kernel and the C library offer but Swift cannot import: variadic calls and calls without a wrapper.
#pragma once
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
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

// memfd_create(2): a file in memory that no folder names. Nothing that can be run as a program, which some systems demand; kernels
// before 6.3 do not know that flag.
static inline int cplatform_memfd(const char *name) {
    int file = (int)syscall(SYS_memfd_create, name, 1 /* MFD_CLOEXEC */ | 8 /* MFD_NOEXEC_SEAL */);
    return file >= 0 || errno != EINVAL ? file : (int)syscall(SYS_memfd_create, name, 1);
}

// Whether a file lies in memory (tmpfs, ramfs); -1 when the kernel does not say. Swift does not import statfs.
static inline int cplatform_is_memory(int descriptor) {
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) return -1;
    return status.f_type == 0x01021994 || status.f_type == 0x858458f6;
}

static inline int cplatform_set_dumpable(int dumpable) { return prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0); }
static inline int cplatform_set_name(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }
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

// Zeroes every register that a called function need not keep and that secrets pass through: of vectors all, and of the
// others those that carry arguments. Out of line: to the caller it is a call like any other.
static inline __attribute__((noinline)) void cplatform_wipe_registers(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        __asm__ volatile(
            "vpxorq %%zmm16, %%zmm16, %%zmm16\n vpxorq %%zmm17, %%zmm17, %%zmm17\n vpxorq %%zmm18, %%zmm18, %%zmm18\n"
            "vpxorq %%zmm19, %%zmm19, %%zmm19\n vpxorq %%zmm20, %%zmm20, %%zmm20\n vpxorq %%zmm21, %%zmm21, %%zmm21\n"
            "vpxorq %%zmm22, %%zmm22, %%zmm22\n vpxorq %%zmm23, %%zmm23, %%zmm23\n vpxorq %%zmm24, %%zmm24, %%zmm24\n"
            "vpxorq %%zmm25, %%zmm25, %%zmm25\n vpxorq %%zmm26, %%zmm26, %%zmm26\n vpxorq %%zmm27, %%zmm27, %%zmm27\n"
            "vpxorq %%zmm28, %%zmm28, %%zmm28\n vpxorq %%zmm29, %%zmm29, %%zmm29\n vpxorq %%zmm30, %%zmm30, %%zmm30\n"
            "vpxorq %%zmm31, %%zmm31, %%zmm31\n" ::: "memory");
    if (__builtin_cpu_supports("avx"))
        __asm__ volatile("vzeroall" ::: "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                         "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    else
        __asm__ volatile(
            "pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n pxor %%xmm2, %%xmm2\n pxor %%xmm3, %%xmm3\n"
            "pxor %%xmm4, %%xmm4\n pxor %%xmm5, %%xmm5\n pxor %%xmm6, %%xmm6\n pxor %%xmm7, %%xmm7\n"
            "pxor %%xmm8, %%xmm8\n pxor %%xmm9, %%xmm9\n pxor %%xmm10, %%xmm10\n pxor %%xmm11, %%xmm11\n"
            "pxor %%xmm12, %%xmm12\n pxor %%xmm13, %%xmm13\n pxor %%xmm14, %%xmm14\n pxor %%xmm15, %%xmm15\n" ::
                : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                  "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    __asm__ volatile("xorl %%ecx, %%ecx\n xorl %%edx, %%edx\n xorl %%esi, %%esi\n xorl %%edi, %%edi\n"
                     "xorl %%r8d, %%r8d\n xorl %%r9d, %%r9d\n xorl %%r10d, %%r10d\n xorl %%r11d, %%r11d\n" ::
                         : "memory", "cc", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
#elif defined(__aarch64__)
    // The lower halves of v8 to v15 are the caller's.
    __asm__ volatile(
        "movi v0.2d, #0\n movi v1.2d, #0\n movi v2.2d, #0\n movi v3.2d, #0\n movi v4.2d, #0\n movi v5.2d, #0\n"
        "movi v6.2d, #0\n movi v7.2d, #0\n movi v16.2d, #0\n movi v17.2d, #0\n movi v18.2d, #0\n movi v19.2d, #0\n"
        "movi v20.2d, #0\n movi v21.2d, #0\n movi v22.2d, #0\n movi v23.2d, #0\n movi v24.2d, #0\n movi v25.2d, #0\n"
        "movi v26.2d, #0\n movi v27.2d, #0\n movi v28.2d, #0\n movi v29.2d, #0\n movi v30.2d, #0\n movi v31.2d, #0\n" ::
            : "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21",
              "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
#endif
}

// Zeroes `count` bytes without a call, and so without a frame of its own below the caller's.
static inline __attribute__((always_inline)) void cplatform_zero(uintptr_t start, size_t count) {
#if defined(__x86_64__)
    size_t words = count / 8;
    __asm__ volatile("rep stosq" : "+D"(start), "+c"(words) : "a"(0) : "memory");
#else
    volatile uint64_t *words = (volatile uint64_t *)start;
    for (size_t index = 0; index < count / 8; index++) words[index] = 0;
#endif
}

// Where this frame ends. Below it lies nothing but what a function without calls may use of the red zone.
static inline __attribute__((always_inline)) uintptr_t cplatform_stack_pointer(void) {
    uintptr_t here;
#if defined(__x86_64__)
    __asm__ volatile("movq %%rsp, %0" : "=r"(here));
#elif defined(__aarch64__)
    __asm__ volatile("mov %0, sp" : "=r"(here));
#else
    here = (uintptr_t)__builtin_frame_address(0) - 1024;
#endif
    return here;
}

enum { cplatform_red_zone = 128, cplatform_near = 512 };

// The first bytes below the caller's frame, which the functions below leave out: their own frames lie there.
static inline __attribute__((noinline)) void cplatform_wipe_near(void) {
    uint64_t words[cplatform_near / 8];
    cplatform_zero((uintptr_t)words, sizeof words);
}

// Zeroes the `count` bytes (a multiple of 8) below the caller's frame: what functions that have returned left there.
static inline __attribute__((noinline)) void cplatform_wipe_far(size_t count) {
    cplatform_zero(cplatform_stack_pointer() - cplatform_red_zone - count, count);
}

#if defined(__linux__) && defined(__GLIBC__)
extern void *__libc_stack_end;

// Where this thread's stack may begin at the lowest; 0 for a stack of somebody's own making, of which nothing is known.
// The first thread's is as long as the kernel has made it so far, and nothing lies in the mebibyte below it. Asking the C
// library for that one reads all of /proc/self/maps.
static inline __attribute__((noinline)) uintptr_t cplatform_stack_start(uintptr_t here, size_t page) {
    uintptr_t top = (uintptr_t)__libc_stack_end;
    if (here < top && top - here < (uintptr_t)8 << 20) return page;
    pthread_attr_t attributes;
    void *start = 0;
    size_t size = 0, guard = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    pthread_attr_getstack(&attributes, &start, &size);
    pthread_attr_getguardsize(&attributes, &guard);
    pthread_attr_destroy(&attributes);
    uintptr_t lowest = (uintptr_t)start;
    return here >= lowest && here - lowest < size ? lowest + guard : 0;
}

static inline __attribute__((always_inline)) int cplatform_resident(uintptr_t start, size_t count, unsigned char *pages) {
#if defined(__x86_64__)
    // Without a call, see below.
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_mincore), "D"(start), "S"(count), "d"(pages)
                     : "rcx", "r11", "memory");
    return result == 0;
#else
    return mincore((void *)start, count, pages) == 0;
#endif
}
#endif

enum { cplatform_most_pages = 64 };

// Zeroes those of the 64 pages below the page of the caller's frame that are in memory and belong to this thread's stack.
// A page that was never used is left alone: looking at it would take memory for it.
static inline __attribute__((noinline)) void cplatform_wipe_pages(size_t page) {
#if defined(__linux__) && defined(__GLIBC__)
    uintptr_t end = (cplatform_stack_pointer() - cplatform_red_zone) & ~(uintptr_t)(page - 1);
    uintptr_t lowest = cplatform_stack_start(end, page);
    // Its frames lay below, too. From here on nothing is called but the kernel.
    if (lowest == 0 || end <= lowest) return;
    uintptr_t start = end - lowest > cplatform_most_pages * page ? end - cplatform_most_pages * page : lowest;
    unsigned char resident[cplatform_most_pages];
    if (!cplatform_resident(start, end - start, resident)) {
        // The kernel has not made the stack this long: down to where it ends.
        uintptr_t missing = start;
        start = end;
        while (start - missing > page) {
            uintptr_t middle = missing + (start - missing) / page / 2 * page;
            if (cplatform_resident(middle, end - middle, resident))
                start = middle;
            else
                missing = middle;
        }
        if (start == end || !cplatform_resident(start, end - start, resident)) return;
    }
    for (uintptr_t here = start; here < end; here += page)
        if (resident[(here - start) / page] & 1) cplatform_zero(here, page);
#else
    (void)page;
#endif
}
