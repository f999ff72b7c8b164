// Over glibc: what differs is copied from one shape into the other.
#define _GNU_SOURCE
#include "../Darwin/Darwin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { full_sync = 51, no_cache = 48, get_protection = 63, set_protection = 64 };
#define NUMBER(type, name) const type darwin_##name = name
NUMBER(int, O_RDONLY); NUMBER(int, O_WRONLY); NUMBER(int, O_RDWR); NUMBER(int, O_CREAT); NUMBER(int, O_EXCL);
NUMBER(int, O_TRUNC); NUMBER(int, O_CLOEXEC); NUMBER(int, O_NOFOLLOW); NUMBER(int, O_DIRECTORY); NUMBER(int, O_NONBLOCK);
NUMBER(int, O_NOCTTY); NUMBER(int, O_APPEND);
NUMBER(int, F_GETFL); NUMBER(int, F_SETFL); NUMBER(int, F_SETFD); NUMBER(int, F_GETFD); NUMBER(int, F_DUPFD_CLOEXEC);
const int darwin_F_FULLFSYNC = full_sync, darwin_F_NOCACHE = no_cache, darwin_F_GETPROTECTIONCLASS = get_protection,
          darwin_F_SETPROTECTIONCLASS = set_protection;
NUMBER(int, F_OK); NUMBER(int, W_OK); NUMBER(int, X_OK); NUMBER(int, R_OK);
NUMBER(int, PATH_MAX);
NUMBER(int, FD_CLOEXEC); NUMBER(int, AT_FDCWD); NUMBER(int, AT_REMOVEDIR); NUMBER(int, AT_SYMLINK_NOFOLLOW);
NUMBER(int, AT_EACCESS);
NUMBER(int, LOCK_SH); NUMBER(int, LOCK_EX); NUMBER(int, LOCK_NB); NUMBER(int, LOCK_UN);
NUMBER(uint16_t, S_IFMT); NUMBER(uint16_t, S_IFREG); NUMBER(uint16_t, S_IFDIR); NUMBER(uint16_t, S_IFLNK);
NUMBER(uint16_t, S_IFCHR); NUMBER(int, AF_UNIX); NUMBER(int, SOCK_STREAM);
NUMBER(int, PROT_NONE); NUMBER(int, PROT_READ); NUMBER(int, PROT_WRITE);
NUMBER(int, MAP_PRIVATE); NUMBER(int, MAP_SHARED); NUMBER(int, MAP_FIXED); NUMBER(int, MAP_ANONYMOUS); NUMBER(int, MAP_ANON);
NUMBER(int, MADV_DONTNEED); NUMBER(int, MADV_FREE);
const int darwin_MADV_ZERO = 11;
NUMBER(int, RLIMIT_CORE); NUMBER(int, RLIMIT_MEMLOCK); NUMBER(int, RLIMIT_NOFILE);
NUMBER(int, SIGSEGV); NUMBER(int, SIGBUS); NUMBER(int, SIGILL); NUMBER(int, SIGFPE); NUMBER(int, SIGABRT);
NUMBER(int, SIGTRAP); NUMBER(int, SIGQUIT); NUMBER(int, SIGTERM); NUMBER(int, SIGINT); NUMBER(int, SIGKILL);
NUMBER(int, SIGPIPE); NUMBER(int, SIG_SETMASK); NUMBER(int, SIG_BLOCK);
NUMBER(int, _SC_PAGESIZE); NUMBER(int, _SC_NPROCESSORS_ONLN); NUMBER(int, POLLIN); NUMBER(int, POLLOUT); NUMBER(int, POLLHUP);
NUMBER(int, POLLERR);
const darwin_clockid_t darwin_CLOCK_REALTIME = darwin__CLOCK_REALTIME, darwin_CLOCK_MONOTONIC = darwin__CLOCK_MONOTONIC,
                       darwin_CLOCK_UPTIME_RAW = darwin__CLOCK_UPTIME_RAW,
                       darwin_CLOCK_MONOTONIC_RAW = darwin__CLOCK_MONOTONIC_RAW,
                       darwin_CLOCK_THREAD_CPUTIME_ID = darwin__CLOCK_THREAD_CPUTIME_ID,
                       darwin_CLOCK_PROCESS_CPUTIME_ID = darwin__CLOCK_PROCESS_CPUTIME_ID;
NUMBER(int, EPERM); NUMBER(int, ENOENT); NUMBER(int, EINTR); NUMBER(int, EIO); NUMBER(int, ENXIO); NUMBER(int, ENOMEM);
NUMBER(int, ESRCH); NUMBER(int, EACCES); NUMBER(int, EBUSY); NUMBER(int, EEXIST); NUMBER(int, ENOTDIR); NUMBER(int, EISDIR); NUMBER(int, EINVAL);
NUMBER(int, EAGAIN); NUMBER(int, EWOULDBLOCK); NUMBER(int, ENOSPC); NUMBER(int, EROFS); NUMBER(int, EPIPE); NUMBER(int, ELOOP);
NUMBER(int, EDQUOT); NUMBER(int, ENOTEMPTY); NUMBER(int, ENOSYS); NUMBER(int, ENOTSUP);
NUMBER(int, ENODEV); NUMBER(int, EOPNOTSUPP);

int darwin_errno(void) { return errno; }
void darwin_set_errno(int number) { errno = number; }
void *darwin_MAP_FAILED(void) { return MAP_FAILED; }
darwin_sig_t darwin_SIG_DFL(void) { return SIG_DFL; }
darwin_sig_t darwin_SIG_IGN(void) { return SIG_IGN; }

// MARK: Files

int darwin_open(const char *path, int flags) { return open(path, flags, 0); }
int darwin_open_mode(const char *path, int flags, uint16_t mode) { return open(path, flags, mode); }
int darwin_openat(int folder, const char *path, int flags) { return openat(folder, path, flags, 0); }
int darwin_openat_mode(int folder, const char *path, int flags, uint16_t mode) { return openat(folder, path, flags, mode); }
// The last folders whose class was set: a test looks at its own.
static struct { dev_t device; ino_t number; int class; } protected[64];
static _Atomic unsigned protections;
static int protection(int file, int class) {
    struct stat status;
    if (fstat(file, &status) < 0) return -1;
    if (class) {
        unsigned next = protections++ % 64;
        protected[next].device = status.st_dev, protected[next].number = status.st_ino, protected[next].class = class;
        return 0;
    }
    for (unsigned i = 0; i < 64; i++)
        if (protected[i].class && protected[i].device == status.st_dev && protected[i].number == status.st_ino)
            return protected[i].class;
    return 0;
}
int darwin_fcntl(int file, int command) {
    if (command == get_protection) return protection(file, 0);
    return command == full_sync ? fsync(file) : fcntl(file, command);
}
int darwin_fcntl_value(int file, int command, int value) {
    if (command == set_protection) return protection(file, value);
    return command == no_cache ? 0 : fcntl(file, command, value);
}
int darwin_fcntl_pointer(int file, int command, void *pointer) { errno = ENOSYS; return -1; }
int darwin_close(int file) { return close(file); }
long darwin_read(int file, void *bytes, size_t count) { return read(file, bytes, count); }
long darwin_write(int file, const void *bytes, size_t count) { return write(file, bytes, count); }
long darwin_pread(int file, void *bytes, size_t count, int64_t offset) { return pread(file, bytes, count, offset); }
long darwin_pwrite(int file, const void *bytes, size_t count, int64_t offset) { return pwrite(file, bytes, count, offset); }
int64_t darwin_lseek(int file, int64_t offset, int from) { return lseek(file, offset, from); }
int darwin_fsync(int file) { return fsync(file); }
int darwin_ftruncate(int file, int64_t size) { return ftruncate(file, size); }
int darwin_fchmod(int file, uint16_t mode) { return fchmod(file, mode); }
int darwin_fchown(int file, uint32_t owner, uint32_t group) { return fchown(file, owner, group); }
int darwin_chmod(const char *path, uint16_t mode) { return chmod(path, mode); }
int darwin_flock(int file, int operation) { return flock(file, operation); }
int darwin_dup(int file) { return dup(file); }
int darwin_pipe(int *files) { return pipe(files); }

static struct darwin_timespec time_of(struct timespec from) { return (struct darwin_timespec){from.tv_sec, from.tv_nsec}; }
static int copied(int result, const struct stat *from, struct darwin_stat *to) {
    if (result != 0) return result;
    *to = (struct darwin_stat){
        .st_dev = (int32_t)from->st_dev, .st_mode = (uint16_t)from->st_mode, .st_nlink = (uint16_t)from->st_nlink,
        .st_ino = from->st_ino, .st_uid = from->st_uid, .st_gid = from->st_gid, .st_rdev = (int32_t)from->st_rdev,
        .st_atimespec = time_of(from->st_atim), .st_mtimespec = time_of(from->st_mtim),
        .st_ctimespec = time_of(from->st_ctim), .st_birthtimespec = time_of(from->st_ctim), .st_size = from->st_size,
        .st_blocks = from->st_blocks, .st_blksize = (int32_t)from->st_blksize};
    return 0;
}
int darwin_stat(const char *path, struct darwin_stat *to) { struct stat s; return copied(stat(path, &s), &s, to); }
int darwin_lstat(const char *path, struct darwin_stat *to) { struct stat s; return copied(lstat(path, &s), &s, to); }
int darwin_fstat(int file, struct darwin_stat *to) { struct stat s; return copied(fstat(file, &s), &s, to); }
int darwin_fstatat(int folder, const char *path, struct darwin_stat *to, int flags) {
    struct stat s;
    return copied(fstatat(folder, path, &s, flags), &s, to);
}
static int room(int result, const struct statvfs *from, struct darwin_statvfs *to) {
    if (result != 0) return result;
    *to = (struct darwin_statvfs){from->f_bsize, from->f_frsize, (uint32_t)from->f_blocks, (uint32_t)from->f_bfree,
        (uint32_t)from->f_bavail, (uint32_t)from->f_files, (uint32_t)from->f_ffree, (uint32_t)from->f_favail,
        from->f_fsid, from->f_flag, from->f_namemax};
    return 0;
}
int darwin_statvfs(const char *path, struct darwin_statvfs *to) { struct statvfs s; return room(statvfs(path, &s), &s, to); }
int darwin_fstatvfs(int file, struct darwin_statvfs *to) { struct statvfs s; return room(fstatvfs(file, &s), &s, to); }
int darwin_mkdir(const char *path, uint16_t mode) { return mkdir(path, mode); }
int darwin_mkdirat(int folder, const char *path, uint16_t mode) { return mkdirat(folder, path, mode); }
int darwin_mkfifo(const char *path, uint16_t mode) { return mkfifo(path, mode); }
int darwin_mknod(const char *path, uint16_t mode, int32_t device) { return mknod(path, mode, (dev_t)device); }
int darwin_socket(int family, int type, int protocol) { return socket(family, type, protocol); }
int darwin_bind(int file, const struct darwin_sockaddr *address, uint32_t size) {
    struct sockaddr_un ours = {.sun_family = AF_UNIX};
    if (address->sa_family != AF_UNIX) { errno = EINVAL; return -1; }
    memcpy(ours.sun_path, ((const struct darwin_sockaddr_un *)address)->sun_path, 104);
    return bind(file, (const struct sockaddr *)&ours, sizeof ours);
}
int darwin_rmdir(const char *path) { return rmdir(path); }
int darwin_unlink(const char *path) { return unlink(path); }
int darwin_unlinkat(int folder, const char *path, int flags) { return unlinkat(folder, path, flags); }
int darwin_rename(const char *from, const char *to) { return rename(from, to); }
int darwin_link(const char *from, const char *to) { return link(from, to); }
int darwin_linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    return linkat(from_folder, from, to_folder, to, flags);
}
int darwin_renameat(int folder, const char *from, int into, const char *to) { return renameat(folder, from, into, to); }
int darwin_access(const char *path, int mode) { return access(path, mode); }
long darwin_readlink(const char *path, char *into, size_t size) { return readlink(path, into, size); }
int darwin_faccessat(int folder, const char *path, int mode, int flags) { return faccessat(folder, path, mode, flags); }
char *darwin_getcwd(char *path, size_t size) { return getcwd(path, size); }
char *darwin_getenv(const char *name) { return getenv(name); }
char *darwin_realpath(const char *path, char *into) { return realpath(path, into); }
char *darwin_mkdtemp(char *pattern) { return mkdtemp(pattern); }

static darwin_DIR *folder_of(DIR *folder) {
    if (folder == NULL) return NULL;
    darwin_DIR *made = calloc(1, sizeof(darwin_DIR));
    made->__dd_loc = folder;
    return made;
}
darwin_DIR *darwin_opendir(const char *path) { return folder_of(opendir(path)); }
darwin_DIR *darwin_fdopendir(int file) { return folder_of(fdopendir(file)); }
struct darwin_dirent *darwin_readdir(darwin_DIR *folder) {
    struct dirent *entry = readdir(folder->__dd_loc);
    if (entry == NULL) return NULL;
    struct darwin_dirent *made = &folder->__entry;
    made->d_ino = entry->d_ino;
    made->d_type = entry->d_type;
    made->d_namlen = (uint16_t)strlen(entry->d_name);
    memcpy(made->d_name, entry->d_name, made->d_namlen + 1u);
    return made;
}
void darwin_rewinddir(darwin_DIR *folder) { rewinddir(folder->__dd_loc); }
int darwin_dirfd(darwin_DIR *folder) { return dirfd(folder->__dd_loc); }
int darwin_closedir(darwin_DIR *folder) {
    int result = closedir(folder->__dd_loc);
    free(folder);
    return result;
}
int darwin_poll(struct darwin_pollfd *files, uint32_t count, int milliseconds) {
    return poll((struct pollfd *)files, count, milliseconds);
}

// MARK: Memory

// Of all its devices but the oldest Macs.
#define PAGE 16384

void *darwin_mmap(void *at, size_t size, int protection, int flags, int file, int64_t offset) {
    // An app gets a few gigabytes of address space (realm-swift 8337: a map fails at 2.3 GB).
    if (size > (size_t)2 << 30) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    if (at != NULL) return mmap(at, size, protection, flags, file, offset);
    // Begins at one of its pages. What is mapped before and behind goes again.
    char *room = mmap(NULL, size + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return room;
    char *begin = (char *)(((uintptr_t)room + PAGE - 1) / PAGE * PAGE);
    size_t whole = (size + 4095) / 4096 * 4096;
    if (begin > room) munmap(room, begin - room);
    if (room + size + PAGE > begin + whole) munmap(begin + whole, room + size + PAGE - begin - whole);
    void *map = mmap(begin, size, protection, flags | MAP_FIXED, file, offset);
    if (map == MAP_FAILED) munmap(begin, whole);
    return map;
}
int darwin_munmap(void *at, size_t size) { return munmap(at, size); }
int darwin_mprotect(void *at, size_t size, int protection) { return mprotect(at, size, protection); }
int darwin_mlock(const void *at, size_t size) { return mlock(at, size); }
int darwin_munlock(const void *at, size_t size) { return munlock(at, size); }
int darwin_madvise(void *at, size_t size, int advice) { return madvise(at, size, advice); }
int darwin_minherit(void *at, size_t size, int inheritance) {
    return madvise(at, size, inheritance == 2 ? MADV_DONTFORK : inheritance == 3 ? MADV_WIPEONFORK : MADV_DOFORK);
}
int darwin_memset_s(void *bytes, size_t size, int value, size_t count) {
    memset(bytes, value, count < size ? count : size);
    __asm__ volatile("" : : "r"(bytes) : "memory");
    return count > size ? EINVAL : 0;
}
void *darwin_memset(void *bytes, int value, size_t count) { return memset(bytes, value, count); }
int darwin_memcmp(const void *one, const void *other, size_t count) { return memcmp(one, other, count); }
void *darwin_memcpy(void *to, const void *from, size_t count) { return memcpy(to, from, count); }
size_t darwin_strlen(const char *text) { return strlen(text); }
char *darwin_strerror(int number) { return strerror(number); }
void darwin_free(void *bytes) { free(bytes); }
void darwin_arc4random_buf(void *bytes, size_t count) {
    for (size_t done = 0; done < count;) {
        ssize_t got = getrandom((char *)bytes + done, count - done, 0);
        if (got > 0) done += (size_t)got;
    }
}
uint32_t darwin_arc4random(void) { uint32_t word; darwin_arc4random_buf(&word, sizeof word); return word; }
int darwin_getentropy(void *bytes, size_t count) { return getentropy(bytes, count); }

// MARK: Time and processes

static _Atomic long seconds_passed;
void darwin_time_passes(long seconds) { seconds_passed += seconds; }
int darwin_clock_gettime(darwin_clockid_t clock, struct darwin_timespec *time) {
    // CLOCK_MONOTONIC counts sleep there, CLOCK_UPTIME_RAW does not.
    clockid_t ours = clock == darwin__CLOCK_MONOTONIC || clock == darwin__CLOCK_MONOTONIC_RAW ? CLOCK_BOOTTIME
                     : clock == darwin__CLOCK_UPTIME_RAW                                      ? CLOCK_MONOTONIC
                     : clock == darwin__CLOCK_THREAD_CPUTIME_ID                               ? CLOCK_THREAD_CPUTIME_ID
                     : clock == darwin__CLOCK_PROCESS_CPUTIME_ID                              ? CLOCK_PROCESS_CPUTIME_ID
                                                                                              : CLOCK_REALTIME;
    int result = clock_gettime(ours, (struct timespec *)time);
    if (result == 0 && ours != CLOCK_THREAD_CPUTIME_ID && ours != CLOCK_PROCESS_CPUTIME_ID) time->tv_sec += seconds_passed;
    return result;
}
int darwin_nanosleep(const struct darwin_timespec *time, struct darwin_timespec *rest) {
    return nanosleep((const struct timespec *)time, (struct timespec *)rest);
}
int darwin_usleep(uint32_t microseconds) { return usleep(microseconds); }
uint32_t darwin_sleep(uint32_t seconds) { return sleep(seconds); }
long darwin_sysconf(int name) { return name == _SC_PAGESIZE ? PAGE : sysconf(name); }
int darwin_sysctlbyname(const char *name, void *old, size_t *size, void *value, size_t count) {
    if (strcmp(name, "kern.bootsessionuuid") != 0 || value != NULL) { errno = ENOENT; return -1; }
    char text[37] = {0};
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, text, 36) != 36) { if (file >= 0) close(file); errno = ENOENT; return -1; }
    close(file);
    for (char *c = text; *c; c++) if (*c >= 'a' && *c <= 'f') *c -= 32;  // capitals there
    if (*size < sizeof text) { errno = ENOMEM; return -1; }
    memcpy(old, text, sizeof text);
    *size = sizeof text;
    return 0;
}
int darwin_getpid(void) { return getpid(); }
void darwin_exit(int status) { exit(status); }
void darwin__exit(int status) { _exit(status); }
int darwin_fflush(struct darwin_FILE *stream) { return fflush((FILE *)stream); }
int darwin_kill(int process, int signal) { return kill(process, signal); }
uint32_t darwin_getuid(void) { return getuid(); }
uint32_t darwin_geteuid(void) { return geteuid(); }
int darwin_setrlimit(int resource, const struct darwin_rlimit *limit) {
    return setrlimit((__rlimit_resource_t)resource, (const struct rlimit *)limit);
}
int darwin_getrlimit(int resource, struct darwin_rlimit *limit) {
    return getrlimit((__rlimit_resource_t)resource, (struct rlimit *)limit);
}
darwin_sig_t darwin_signal(int number, darwin_sig_t handler) { return signal(number, handler); }
int darwin_sigfillset(uint32_t *set) { *set = UINT32_MAX; return 0; }
int darwin_sigemptyset(uint32_t *set) { *set = 0; return 0; }
int darwin_sigaddset(uint32_t *set, int number) { *set |= 1u << (number - 1); return 0; }
int darwin_pthread_sigmask(int how, const uint32_t *set, uint32_t *before) {
    sigset_t new, old;
    sigemptyset(&new);
    for (int number = 1; set != NULL && number < 32; number++)
        if (*set >> (number - 1) & 1) sigaddset(&new, number);
    int result = pthread_sigmask(how, set == NULL ? NULL : &new, &old);
    if (result == 0 && before != NULL) {
        *before = 0;
        for (int number = 1; number < 32; number++)
            if (sigismember(&old, number) == 1) *before |= 1u << (number - 1);
    }
    return result;
}

// MARK: Threads: glibc's objects lie in the room of Darwin's, which is larger

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(darwin_pthread_mutex_t), "mutex");
_Static_assert(sizeof(pthread_cond_t) <= sizeof(darwin_pthread_cond_t), "condition");
_Static_assert(sizeof(struct darwin_stat) == 144, "stat of a 64-bit Apple system");
static pthread_t ours(darwin_pthread_t thread) { return (pthread_t)(uintptr_t)thread; }
darwin_pthread_t darwin_pthread_self(void) { return (darwin_pthread_t)(uintptr_t)pthread_self(); }
int darwin_pthread_equal(darwin_pthread_t one, darwin_pthread_t other) { return one == other; }
int darwin_pthread_create(darwin_pthread_t *thread, const darwin_pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    pthread_t made;
    int result = pthread_create(&made, NULL, start, argument);
    if (result == 0) *thread = (darwin_pthread_t)(uintptr_t)made;
    return result;
}
int darwin_pthread_join(darwin_pthread_t thread, void **result) { return pthread_join(ours(thread), result); }
int darwin_pthread_detach(darwin_pthread_t thread) { return pthread_detach(ours(thread)); }
int darwin_pthread_main_np(void) { return getpid() == gettid(); }
int darwin_pthread_key_create(darwin_pthread_key_t *key, void (*end)(void *)) {
    pthread_key_t made;
    int result = pthread_key_create(&made, end);
    if (result == 0) *key = made;
    return result;
}
void *darwin_pthread_getspecific(darwin_pthread_key_t key) { return pthread_getspecific((pthread_key_t)key); }
int darwin_pthread_setspecific(darwin_pthread_key_t key, const void *value) { return pthread_setspecific((pthread_key_t)key, value); }
#define MUTEX(m) ((pthread_mutex_t *)(m))
#define CONDITION(c) ((pthread_cond_t *)(c))
int darwin_pthread_mutex_init(darwin_pthread_mutex_t *m, const darwin_pthread_mutexattr_t *kind) { return pthread_mutex_init(MUTEX(m), NULL); }
int darwin_pthread_mutex_destroy(darwin_pthread_mutex_t *m) { return pthread_mutex_destroy(MUTEX(m)); }
int darwin_pthread_mutex_lock(darwin_pthread_mutex_t *m) { return pthread_mutex_lock(MUTEX(m)); }
int darwin_pthread_mutex_unlock(darwin_pthread_mutex_t *m) { return pthread_mutex_unlock(MUTEX(m)); }
int darwin_pthread_cond_init(darwin_pthread_cond_t *c, const darwin_pthread_condattr_t *kind) { return pthread_cond_init(CONDITION(c), NULL); }
int darwin_pthread_cond_destroy(darwin_pthread_cond_t *c) { return pthread_cond_destroy(CONDITION(c)); }
int darwin_pthread_cond_signal(darwin_pthread_cond_t *c) { return pthread_cond_signal(CONDITION(c)); }
int darwin_pthread_cond_broadcast(darwin_pthread_cond_t *c) { return pthread_cond_broadcast(CONDITION(c)); }
int darwin_pthread_cond_wait(darwin_pthread_cond_t *c, darwin_pthread_mutex_t *m) { return pthread_cond_wait(CONDITION(c), MUTEX(m)); }
int darwin_pthread_cond_timedwait(darwin_pthread_cond_t *c, darwin_pthread_mutex_t *m, const struct darwin_timespec *until) {
    return pthread_cond_timedwait(CONDITION(c), MUTEX(m), (const struct timespec *)until);
}
