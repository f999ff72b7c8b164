#pragma once
#include <dlfcn.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// The libraries are loaded when an image is read, by the process that reads it. What is called of them stands here, as
// their names (libzbar.so.0, libpng16.so.16, libturbojpeg.so.0) promise it: a build needs no header of theirs.

// zbar.h
typedef struct {
    void *(*make_scanner)(void);
    int (*configure)(void *scanner, int symbology, int setting, int value);
    int (*scan)(void *scanner, void *image);
    void *(*make_image)(void);
    void (*set_format)(void *image, unsigned long format);
    void (*set_size)(void *image, unsigned width, unsigned height);
    void (*set_data)(void *image, const void *data, unsigned long count, void (*release)(void *image));
    const void *(*first)(const void *image);
    const void *(*next)(const void *symbol);
    int (*type)(const void *symbol);
    const char *(*data)(const void *symbol);
    unsigned (*count)(const void *symbol);
} cqrdecode_zbar;

enum {
    cqrdecode_qr_code = 64,   // ZBAR_QRCODE
    cqrdecode_enable = 0,     // ZBAR_CFG_ENABLE
    cqrdecode_as_bytes = 4,   // ZBAR_CFG_BINARY
    cqrdecode_grey = 0x30303859,  // "Y800"
};

/// Loads the library; 0 when it is not there.
static inline int cqrdecode_load_zbar(cqrdecode_zbar *library) {
    void *handle = dlopen("libzbar.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return 0;
    *(void **)&library->make_scanner = dlsym(handle, "zbar_image_scanner_create");
    *(void **)&library->configure = dlsym(handle, "zbar_image_scanner_set_config");
    *(void **)&library->scan = dlsym(handle, "zbar_scan_image");
    *(void **)&library->make_image = dlsym(handle, "zbar_image_create");
    *(void **)&library->set_format = dlsym(handle, "zbar_image_set_format");
    *(void **)&library->set_size = dlsym(handle, "zbar_image_set_size");
    *(void **)&library->set_data = dlsym(handle, "zbar_image_set_data");
    *(void **)&library->first = dlsym(handle, "zbar_image_first_symbol");
    *(void **)&library->next = dlsym(handle, "zbar_symbol_next");
    *(void **)&library->type = dlsym(handle, "zbar_symbol_get_type");
    *(void **)&library->data = dlsym(handle, "zbar_symbol_get_data");
    *(void **)&library->count = dlsym(handle, "zbar_symbol_get_data_length");
    return library->make_scanner && library->configure && library->scan && library->make_image && library->set_format &&
           library->set_size && library->set_data && library->first && library->next && library->type && library->data &&
           library->count;
}

// png.h: the simplified interface of libpng 1.6, which checks the version of the image.
typedef struct {
    void *opaque;
    uint32_t version, width, height, format, flags, colors, problem;
    char message[64];
} cqrdecode_png_image;

typedef struct {
    uint8_t red, green, blue;
} cqrdecode_png_color;

typedef struct {
    int (*begin)(cqrdecode_png_image *image, const void *bytes, size_t count);
    int (*finish)(cqrdecode_png_image *image, const cqrdecode_png_color *background, void *pixels, int32_t row,
                  void *colors);
} cqrdecode_png;

enum {
    cqrdecode_png_version = 1,  // PNG_IMAGE_VERSION
    cqrdecode_png_grey = 0,     // PNG_FORMAT_GRAY
};

static inline int cqrdecode_load_png(cqrdecode_png *library) {
    void *handle = dlopen("libpng16.so.16", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return 0;
    *(void **)&library->begin = dlsym(handle, "png_image_begin_read_from_memory");
    *(void **)&library->finish = dlsym(handle, "png_image_finish_read");
    return library->begin && library->finish;
}

// turbojpeg.h
typedef struct {
    void *(*make)(void);
    int (*header)(void *handle, const unsigned char *bytes, unsigned long count, int *width, int *height, int *subsampling,
                  int *colors);
    int (*decompress)(void *handle, const unsigned char *bytes, unsigned long count, unsigned char *pixels, int width,
                      int row, int height, int format, int flags);
    int (*severity)(void *handle);
} cqrdecode_jpeg;

enum {
    cqrdecode_jpeg_grey = 6,             // TJPF_GRAY
    cqrdecode_jpeg_few_scans = 1 << 15,  // TJFLAG_LIMITSCANS
    cqrdecode_jpeg_warning = 0,          // TJERR_WARNING
};

static inline int cqrdecode_load_jpeg(cqrdecode_jpeg *library) {
    void *handle = dlopen("libturbojpeg.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return 0;
    *(void **)&library->make = dlsym(handle, "tjInitDecompress");
    *(void **)&library->header = dlsym(handle, "tjDecompressHeader3");
    *(void **)&library->decompress = dlsym(handle, "tjDecompress2");
    *(void **)&library->severity = dlsym(handle, "tjGetErrorCode");
    return library->make && library->header && library->decompress && library->severity;
}

static inline int cqrdecode_limit(int kind, rlim_t most) {
    struct rlimit limit = {most, most}, now;
    if (getrlimit(kind, &now) != 0) return 0;
    if (now.rlim_max != RLIM_INFINITY && now.rlim_max < most) return 1;
    return setrlimit(kind, &limit) == 0;
}

#if defined(__x86_64__)
#define CQRDECODE_MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CQRDECODE_MACHINE AUDIT_ARCH_AARCH64
#endif

#define CQRDECODE_ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/// Leaves this process its memory, `memory` bytes more of it, `seconds` of processor time, and what is open: it opens and
/// starts nothing any more, reaches no other process, and gets no rights by any program. 0 when the system refuses.
static inline int cqrdecode_confine(size_t memory, unsigned seconds) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    int read = fscanf(file, "%lu", &pages);
    fclose(file);
    if (read != 1) return 0;
    if (!cqrdecode_limit(RLIMIT_AS, pages * (size_t)sysconf(_SC_PAGESIZE) + memory)) return 0;
    if (!cqrdecode_limit(RLIMIT_CPU, seconds) || !cqrdecode_limit(RLIMIT_CORE, 0)) return 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 0;
#if defined(CQRDECODE_MACHINE)
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CQRDECODE_MACHINE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        CQRDECODE_ALLOW(SYS_read),
        CQRDECODE_ALLOW(SYS_write),
        CQRDECODE_ALLOW(SYS_close),
        CQRDECODE_ALLOW(SYS_brk),
        CQRDECODE_ALLOW(SYS_mmap),
        CQRDECODE_ALLOW(SYS_munmap),
        CQRDECODE_ALLOW(SYS_mremap),
        CQRDECODE_ALLOW(SYS_mprotect),
        CQRDECODE_ALLOW(SYS_madvise),
        CQRDECODE_ALLOW(SYS_mlock),
        CQRDECODE_ALLOW(SYS_futex),
        CQRDECODE_ALLOW(SYS_getrandom),
        CQRDECODE_ALLOW(SYS_clock_gettime),
        CQRDECODE_ALLOW(SYS_rt_sigreturn),
        CQRDECODE_ALLOW(SYS_exit),
        CQRDECODE_ALLOW(SYS_exit_group),
        // Another call fails, as for want of rights: zbar does without the tables of characters that it would load.
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) return 0;
#endif
    return 1;
}
