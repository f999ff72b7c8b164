// The C library's calls that change files, each under the names that programs are linked to.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "faults.h"

#define MOST_PARTS 1024

// The next definition of a function: the C library's, or a sanitizer's.
#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

static int refuse(struct call call) {
    fault_end(call);
    errno = call.error;
    return -1;
}

// MARK: writing

static size_t total(const struct iovec *parts, int count) {
    size_t size = 0;
    for (int index = 0; index < count; index++) size += parts[index].iov_len;
    return size;
}

// The parts up to `size` bytes; their number.
static int shorten(const struct iovec *parts, int count, size_t size, struct iovec *shorter) {
    int used = 0;
    for (int index = 0; index < count && used < MOST_PARTS && size > 0; index++, used++) {
        shorter[used] = parts[index];
        if (shorter[used].iov_len > size) shorter[used].iov_len = size;
        size -= shorter[used].iov_len;
    }
    return used;
}

static off_t place(int file) {
    if (fcntl(file, F_GETFL) & O_APPEND) return lseek(file, 0, SEEK_END);
    return lseek(file, 0, SEEK_CUR);
}

// All of them come here; `offset` is -1 for those that write at the file's own place.
static ssize_t write_parts(const char *name, int file, const struct iovec *parts, int count, off_t offset) {
    struct call call = fault_on_file(CALL_WRITE, name, file);
    if (call.error) return refuse(call);
    struct iovec half[MOST_PARTS];
    if (call.tear) {
        count = shorten(parts, count, total(parts, count) / 2, half);
        parts = half;
    }
    if (call.counted && cut_is_planned()) cut_note_write(file, offset < 0 ? place(file) : offset, total(parts, count));
    ssize_t done = offset < 0 ? REAL(writev)(file, parts, count) : REAL(pwritev)(file, parts, count, offset);
    fault_end(call);
    return done;
}

ssize_t write(int file, const void *bytes, size_t size) {
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
    return write_parts("write", file, &part, 1, -1);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    return write_parts("writev", file, parts, count, -1);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
    return write_parts("pwrite", file, &part, 1, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
    return pwrite(file, bytes, size, offset);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset) {
    return write_parts("pwritev", file, parts, count, offset);
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t offset) {
    return write_parts("pwritev", file, parts, count, offset);
}

// MARK: flushing

static int flush(const char *name, int file, int (*next)(int)) {
    struct call call = fault_on_file(CALL_SYNC, name, file);
    if (call.error) return refuse(call);
    int result = next(file);
    // The folder above ours counts too: our folder's own name is in it.
    if (cut_is_planned() && result == 0) fault_flushed(call, file);
    fault_end(call);
    return result;
}

int fsync(int file) { return flush("fsync", file, REAL(fsync)); }
int fdatasync(int file) { return flush("fdatasync", file, REAL(fdatasync)); }

// MARK: sizes and modes

static int resize(int file, off_t size) {
    struct call call = fault_on_file(CALL_SIZE, "ftruncate", file);
    if (call.error) return refuse(call);
    if (call.counted && cut_is_planned()) cut_note_write(file, size, 0);
    int result = REAL(ftruncate)(file, size);
    fault_end(call);
    return result;
}

int ftruncate(int file, off_t size) { return resize(file, size); }
int ftruncate64(int file, off64_t size) { return resize(file, size); }

int fallocate(int file, int mode, off_t offset, off_t length) {
    struct call call = fault_on_file(CALL_SIZE, "fallocate", file);
    if (call.error) return refuse(call);
    int result = REAL(fallocate)(file, mode, offset, length);
    fault_end(call);
    return result;
}

int fallocate64(int file, int mode, off64_t offset, off64_t length) { return fallocate(file, mode, offset, length); }

// Returns its error instead of setting it.
int posix_fallocate(int file, off_t offset, off_t length) {
    struct call call = fault_on_file(CALL_SIZE, "posix_fallocate", file);
    int result = call.error ? call.error : REAL(posix_fallocate)(file, offset, length);
    fault_end(call);
    return result;
}

int posix_fallocate64(int file, off64_t offset, off64_t length) { return posix_fallocate(file, offset, length); }

int fchmod(int file, mode_t mode) {
    struct call call = fault_on_file(CALL_MODE, "fchmod", file);
    if (call.error) return refuse(call);
    int result = REAL(fchmod)(file, mode);
    fault_end(call);
    return result;
}

// MARK: names

static int open_file(int folder, const char *path, int flags, mode_t mode) {
    bool writes = (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC);
    if (!writes || (flags & O_TMPFILE) == O_TMPFILE) return REAL(openat)(folder, path, flags, mode);
    bool creates = flags & O_CREAT && faccessat(folder, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
    struct call call = fault_on_path(creates ? CALL_CREATE : CALL_OPEN, creates ? "create" : "open", folder, path);
    if (call.error) return refuse(call);
    char absolute[PATH_MAX];
    int file = REAL(openat)(folder, path, flags, mode);
    if (call.counted && creates && file >= 0 && cut_is_planned() &&
        fault_path(folder, path, absolute, sizeof absolute))
        cut_note_created(absolute);
    fault_end(call);
    return file;
}

#define OPEN_MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list more; \
        va_start(more, flags); \
        mode = va_arg(more, mode_t); \
        va_end(more); \
    }

int open(const char *path, int flags, ...) {
    OPEN_MODE(flags)
    return open_file(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    OPEN_MODE(flags)
    return open_file(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    OPEN_MODE(flags)
    return open_file(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
    OPEN_MODE(flags)
    return open_file(folder, path, flags, mode);
}

int creat(const char *path, mode_t mode) { return open_file(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

int renameat2(int old_folder, const char *old, int folder, const char *path, unsigned flags) {
    struct call call = fault_on_path(CALL_NAME, "rename", folder, path);
    if (call.error) return refuse(call);
    char from[PATH_MAX], to[PATH_MAX];
    if (call.counted && cut_is_planned() && fault_path(old_folder, old, from, sizeof from) &&
        fault_path(folder, path, to, sizeof to))
        cut_note_renamed(from, to);
    int result = REAL(renameat2)(old_folder, old, folder, path, flags);
    fault_end(call);
    return result;
}

int renameat(int old_folder, const char *old, int folder, const char *path) {
    return renameat2(old_folder, old, folder, path, 0);
}

int rename(const char *old, const char *path) { return renameat2(AT_FDCWD, old, AT_FDCWD, path, 0); }

int linkat(int old_folder, const char *old, int folder, const char *path, int flags) {
    struct call call = fault_on_path(CALL_NAME, "link", folder, path);
    if (call.error) return refuse(call);
    int result = REAL(linkat)(old_folder, old, folder, path, flags);
    fault_end(call);
    return result;
}

int link(const char *old, const char *path) { return linkat(AT_FDCWD, old, AT_FDCWD, path, 0); }

int mkdirat(int folder, const char *path, mode_t mode) {
    struct call call = fault_on_path(CALL_NAME, "mkdir", folder, path);
    if (call.error) return refuse(call);
    char absolute[PATH_MAX];
    int result = REAL(mkdirat)(folder, path, mode);
    if (call.counted && result == 0 && cut_is_planned() && fault_path(folder, path, absolute, sizeof absolute))
        cut_note_folder(absolute);
    fault_end(call);
    return result;
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int unlinkat(int folder, const char *path, int flags) {
    struct call call = fault_on_path(CALL_REMOVE, flags & AT_REMOVEDIR ? "rmdir" : "unlink", folder, path);
    if (call.error) return refuse(call);
    char absolute[PATH_MAX];
    if (call.counted && !(flags & AT_REMOVEDIR) && cut_is_planned() &&
        fault_path(folder, path, absolute, sizeof absolute))
        cut_note_removed(absolute);
    int result = REAL(unlinkat)(folder, path, flags);
    fault_end(call);
    return result;
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
