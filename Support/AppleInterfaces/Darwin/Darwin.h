// The C library of Apple's systems as far as Holdfast uses it, for Linux: the types and signatures that Swift imports there,
// written from Apple's manual pages (named above each group as name(section)) and the published ABI of 64-bit systems, over
// glibc. Never part of the product.
//
// Every name has a C name of its own (`darwin_...`) and gets its real one for Swift alone (`swift_name`): glibc's headers,
// which Foundation brings, may be loaded beside it. What is not here does not exist there: explicit_bzero, memfd_create,
// fdatasync, prctl, CLOCK_BOOTTIME, st_mtim, MADV_DONTDUMP ...
// Numbers are glibc's where both have the name: nothing of ours may depend on them.
#pragma once
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

#define NAMED(name) __attribute__((swift_name(name)))
#define TYPE(type, name) typedef type darwin_##name NAMED(#name)
// A macro of a number there: Swift sees a value.
#define NUMBER(type, name) extern const type darwin_##name NAMED(#name)
// What has no nullability there: Swift sees `!`.
#define LEGACY _Null_unspecified

// MARK: Types

// types(5), stat(2), poll(2), sigaction(2), getrlimit(2), minherit(2), memset_s(3)
TYPE(int32_t, pid_t);
TYPE(uint32_t, uid_t);
TYPE(uint32_t, gid_t);
TYPE(uint16_t, mode_t);   // glibc: 32 bits
TYPE(int32_t, dev_t);     // glibc: unsigned, 64 bits
TYPE(uint64_t, ino_t);
TYPE(uint16_t, nlink_t);  // glibc: 64 bits
TYPE(int64_t, off_t);
TYPE(int64_t, blkcnt_t);
TYPE(int32_t, blksize_t);  // glibc: 64 bits
TYPE(long, time_t);
TYPE(int32_t, suseconds_t);
TYPE(uint32_t, useconds_t);
TYPE(uint32_t, fsblkcnt_t);  // glibc: 64 bits
TYPE(uint32_t, fsfilcnt_t);
TYPE(uint32_t, nfds_t);    // glibc: 64 bits
TYPE(uint32_t, sigset_t);  // glibc: a structure
TYPE(uint64_t, rlim_t);
TYPE(uint32_t, vm_inherit_t);
TYPE(size_t, rsize_t);
TYPE(int, errno_t);
// clock_gettime(3)
typedef enum : uint32_t {  // glibc: plain numbers
    darwin__CLOCK_REALTIME NAMED("_CLOCK_REALTIME") = 0,
    darwin__CLOCK_MONOTONIC NAMED("_CLOCK_MONOTONIC") = 6,
    darwin__CLOCK_MONOTONIC_RAW NAMED("_CLOCK_MONOTONIC_RAW") = 4,
    darwin__CLOCK_UPTIME_RAW NAMED("_CLOCK_UPTIME_RAW") = 8,
    darwin__CLOCK_PROCESS_CPUTIME_ID NAMED("_CLOCK_PROCESS_CPUTIME_ID") = 12,
    darwin__CLOCK_THREAD_CPUTIME_ID NAMED("_CLOCK_THREAD_CPUTIME_ID") = 16,
} darwin_clockid_t NAMED("clockid_t");

// clock_gettime(3), gettimeofday(2)
struct NAMED("timespec") darwin_timespec {
    long tv_sec, tv_nsec;
};
struct NAMED("timeval") darwin_timeval {
    long tv_sec;
    int32_t tv_usec;
};
// stat(2), statvfs(3), dir(5), getrlimit(2), poll(2), fcntl(2)
struct NAMED("stat") darwin_stat {
    int32_t st_dev;
    uint16_t st_mode;
    uint16_t st_nlink;
    uint64_t st_ino;
    uint32_t st_uid, st_gid;
    int32_t st_rdev;
    struct darwin_timespec st_atimespec, st_mtimespec, st_ctimespec, st_birthtimespec;
    int64_t st_size, st_blocks;
    int32_t st_blksize;
    uint32_t st_flags, st_gen;
    int32_t st_lspare;
    int64_t st_qspare[2];
};
struct NAMED("statvfs") darwin_statvfs {
    unsigned long f_bsize, f_frsize;
    uint32_t f_blocks, f_bfree, f_bavail, f_files, f_ffree, f_favail;
    unsigned long f_fsid, f_flag, f_namemax;
};
struct NAMED("dirent") darwin_dirent {
    uint64_t d_ino, d_seekoff;
    uint16_t d_reclen, d_namlen;
    uint8_t d_type;
    char d_name[1024];
};
struct NAMED("rlimit") darwin_rlimit {
    uint64_t rlim_cur, rlim_max;
};
struct NAMED("pollfd") darwin_pollfd {
    int fd;
    short events, revents;
};
struct NAMED("flock") darwin_flock {  // glibc: the kind first
    int64_t l_start, l_len;
    int32_t l_pid;
    short l_type, l_whence;
};
// socket(2), bind(2), unix(4)
TYPE(uint8_t, sa_family_t);   // glibc: 16 bits
TYPE(uint32_t, socklen_t);
struct NAMED("sockaddr") darwin_sockaddr {  // glibc: no length
    uint8_t sa_len, sa_family;
    char sa_data[14];
};
struct NAMED("sockaddr_un") darwin_sockaddr_un {
    uint8_t sun_len, sun_family;
    char sun_path[104];  // glibc: 108
};
// opendir(3)
// A complete structure there, and so an UnsafeMutablePointer; glibc's is an OpaquePointer.
typedef struct darwin_DIR {
    void *_Nullable __dd_loc;
    struct darwin_dirent __entry;
} darwin_DIR NAMED("DIR");

// pthread(3): sizes of the opaque parts on 64-bit systems
struct NAMED("_opaque_pthread_t") darwin_opaque_pthread {
    long __sig;
    void *_Nullable __cleanup_stack;
    char __opaque[8176];
};
typedef struct darwin_opaque_pthread *darwin_pthread_t NAMED("pthread_t");  // glibc: a number
#define OPAQUE(name, size)                       \
    struct NAMED("_opaque_" #name) darwin_o_##name { \
        long __sig;                              \
        char __opaque[size];                     \
    };                                           \
    typedef struct darwin_o_##name darwin_##name NAMED(#name)
OPAQUE(pthread_mutex_t, 56);
OPAQUE(pthread_mutexattr_t, 8);
OPAQUE(pthread_cond_t, 40);
OPAQUE(pthread_condattr_t, 8);
OPAQUE(pthread_attr_t, 56);
// posix_spawn(2), signal(3)
// Pointers there; glibc's are structures.
typedef void *_Null_unspecified darwin_posix_spawnattr_t NAMED("posix_spawnattr_t");
typedef void *_Null_unspecified darwin_posix_spawn_file_actions_t NAMED("posix_spawn_file_actions_t");
typedef void (*darwin_sig_t)(int) NAMED("sig_t");

// MARK: Numbers

// open(2), fcntl(2), access(2), flock(2), stat(2), socket(2)
NUMBER(int, O_RDONLY); NUMBER(int, O_WRONLY); NUMBER(int, O_RDWR); NUMBER(int, O_CREAT); NUMBER(int, O_EXCL);
NUMBER(int, O_TRUNC); NUMBER(int, O_CLOEXEC); NUMBER(int, O_NOFOLLOW); NUMBER(int, O_DIRECTORY); NUMBER(int, O_NONBLOCK);
NUMBER(int, O_NOCTTY); NUMBER(int, O_APPEND);
NUMBER(int, F_GETFL); NUMBER(int, F_SETFL); NUMBER(int, F_SETFD); NUMBER(int, F_GETFD); NUMBER(int, F_DUPFD_CLOEXEC);
NUMBER(int, F_GETPROTECTIONCLASS); NUMBER(int, F_SETPROTECTIONCLASS);  // sys/fcntl.h
NUMBER(int, F_FULLFSYNC); NUMBER(int, F_NOCACHE); NUMBER(int, F_OK); NUMBER(int, W_OK); NUMBER(int, X_OK); NUMBER(int, R_OK);
NUMBER(int, PATH_MAX);
NUMBER(int, FD_CLOEXEC); NUMBER(int, AT_FDCWD); NUMBER(int, AT_REMOVEDIR); NUMBER(int, AT_SYMLINK_NOFOLLOW);
NUMBER(int, AT_EACCESS);
NUMBER(int, LOCK_SH); NUMBER(int, LOCK_EX); NUMBER(int, LOCK_NB); NUMBER(int, LOCK_UN);
NUMBER(uint16_t, S_IFMT); NUMBER(uint16_t, S_IFREG); NUMBER(uint16_t, S_IFDIR); NUMBER(uint16_t, S_IFLNK);
NUMBER(uint16_t, S_IFCHR); NUMBER(int, AF_UNIX); NUMBER(int, SOCK_STREAM);
// mmap(2), madvise(2), getrlimit(2), signal(3), sigprocmask(2), sysconf(3), poll(2)
NUMBER(int, PROT_NONE); NUMBER(int, PROT_READ); NUMBER(int, PROT_WRITE);
NUMBER(int, MAP_PRIVATE); NUMBER(int, MAP_SHARED); NUMBER(int, MAP_FIXED); NUMBER(int, MAP_ANONYMOUS); NUMBER(int, MAP_ANON);
NUMBER(int, MADV_DONTNEED); NUMBER(int, MADV_FREE); NUMBER(int, MADV_ZERO);
NUMBER(int, RLIMIT_CORE); NUMBER(int, RLIMIT_MEMLOCK); NUMBER(int, RLIMIT_NOFILE);
NUMBER(int, SIGSEGV); NUMBER(int, SIGBUS); NUMBER(int, SIGILL); NUMBER(int, SIGFPE); NUMBER(int, SIGABRT);
NUMBER(int, SIGTRAP); NUMBER(int, SIGQUIT); NUMBER(int, SIGTERM); NUMBER(int, SIGINT); NUMBER(int, SIGKILL);
NUMBER(int, SIGPIPE); NUMBER(int, SIG_SETMASK); NUMBER(int, SIG_BLOCK);
NUMBER(int, _SC_PAGESIZE); NUMBER(int, _SC_NPROCESSORS_ONLN); NUMBER(int, POLLIN); NUMBER(int, POLLOUT); NUMBER(int, POLLHUP);
NUMBER(int, POLLERR);
// clock_gettime(3)
NUMBER(darwin_clockid_t, CLOCK_REALTIME); NUMBER(darwin_clockid_t, CLOCK_MONOTONIC); NUMBER(darwin_clockid_t, CLOCK_UPTIME_RAW);
NUMBER(darwin_clockid_t, CLOCK_MONOTONIC_RAW); NUMBER(darwin_clockid_t, CLOCK_THREAD_CPUTIME_ID);
NUMBER(darwin_clockid_t, CLOCK_PROCESS_CPUTIME_ID);
// intro(2)
NUMBER(int, EPERM); NUMBER(int, ENOENT); NUMBER(int, EINTR); NUMBER(int, EIO); NUMBER(int, ENXIO); NUMBER(int, ENOMEM);
NUMBER(int, ESRCH); NUMBER(int, EACCES); NUMBER(int, EBUSY); NUMBER(int, EEXIST); NUMBER(int, ENOTDIR); NUMBER(int, EISDIR); NUMBER(int, EINVAL);
NUMBER(int, EAGAIN); NUMBER(int, EWOULDBLOCK); NUMBER(int, ENOSPC); NUMBER(int, EROFS); NUMBER(int, EPIPE); NUMBER(int, ELOOP);
NUMBER(int, EDQUOT); NUMBER(int, ENOTEMPTY); NUMBER(int, ENOSYS); NUMBER(int, ENOTSUP);
NUMBER(int, ENODEV); NUMBER(int, EOPNOTSUPP);

struct darwin_FILE;

// MARK: Functions

#define FUNCTION(result, name, swift, ...) result darwin_##name(__VA_ARGS__) NAMED(#name swift)
// open(2), fcntl(2), close(2), read(2), write(2), lseek(2), fsync(2), truncate(2), chmod(2), flock(2), dup(2), pipe(2)
FUNCTION(int, open, "(_:_:)", const char *path, int flags);
int darwin_open_mode(const char *path, int flags, uint16_t mode) NAMED("open(_:_:_:)");
FUNCTION(int, openat, "(_:_:_:)", int folder, const char *path, int flags);
int darwin_openat_mode(int folder, const char *path, int flags, uint16_t mode) NAMED("openat(_:_:_:_:)");
FUNCTION(int, fcntl, "(_:_:)", int file, int command);
int darwin_fcntl_value(int file, int command, int value) NAMED("fcntl(_:_:_:)");
int darwin_fcntl_pointer(int file, int command, void *pointer) NAMED("fcntl(_:_:_:)");
FUNCTION(int, close, "(_:)", int file);
FUNCTION(long, read, "(_:_:_:)", int file, void *LEGACY bytes, size_t count);
FUNCTION(long, write, "(_:_:_:)", int file, const void *LEGACY bytes, size_t count);
FUNCTION(long, pread, "(_:_:_:_:)", int file, void *LEGACY bytes, size_t count, int64_t offset);
FUNCTION(long, pwrite, "(_:_:_:_:)", int file, const void *LEGACY bytes, size_t count, int64_t offset);
FUNCTION(int64_t, lseek, "(_:_:_:)", int file, int64_t offset, int from);
FUNCTION(int, fsync, "(_:)", int file);
FUNCTION(int, ftruncate, "(_:_:)", int file, int64_t size);
FUNCTION(int, fchmod, "(_:_:)", int file, uint16_t mode);
FUNCTION(int, fchown, "(_:_:_:)", int file, uint32_t owner, uint32_t group);
FUNCTION(int, chmod, "(_:_:)", const char *LEGACY path, uint16_t mode);
FUNCTION(int, flock, "(_:_:)", int file, int operation);
FUNCTION(int, dup, "(_:)", int file);
FUNCTION(int, pipe, "(_:)", int *LEGACY files);
// stat(2), statvfs(3), mkdir(2), mkfifo(2), mknod(2), socket(2), bind(2), rmdir(2), unlink(2), rename(2), link(2),
// access(2), readlink(2),
// getcwd(3), getenv(3), realpath(3), mktemp(3), directory(3), poll(2)
FUNCTION(int, stat, "(_:_:)", const char *LEGACY path, struct darwin_stat *LEGACY status);
FUNCTION(int, lstat, "(_:_:)", const char *LEGACY path, struct darwin_stat *LEGACY status);
FUNCTION(int, fstat, "(_:_:)", int file, struct darwin_stat *LEGACY status);
FUNCTION(int, fstatat, "(_:_:_:_:)", int folder, const char *LEGACY path, struct darwin_stat *LEGACY status, int flags);
FUNCTION(int, statvfs, "(_:_:)", const char *LEGACY path, struct darwin_statvfs *LEGACY status);
FUNCTION(int, fstatvfs, "(_:_:)", int file, struct darwin_statvfs *LEGACY status);
FUNCTION(int, mkdir, "(_:_:)", const char *LEGACY path, uint16_t mode);
FUNCTION(int, mkdirat, "(_:_:_:)", int folder, const char *LEGACY path, uint16_t mode);
FUNCTION(int, mkfifo, "(_:_:)", const char *LEGACY path, uint16_t mode);
FUNCTION(int, mknod, "(_:_:_:)", const char *LEGACY path, uint16_t mode, int32_t device);
FUNCTION(int, socket, "(_:_:_:)", int family, int type, int protocol);
FUNCTION(int, bind, "(_:_:_:)", int socket, const struct darwin_sockaddr *LEGACY address, uint32_t size);
FUNCTION(int, rmdir, "(_:)", const char *LEGACY path);
FUNCTION(int, unlink, "(_:)", const char *LEGACY path);
FUNCTION(int, unlinkat, "(_:_:_:)", int folder, const char *LEGACY path, int flags);
FUNCTION(int, rename, "(_:_:)", const char *LEGACY from, const char *LEGACY to);
FUNCTION(int, link, "(_:_:)", const char *LEGACY from, const char *LEGACY to);
FUNCTION(int, linkat, "(_:_:_:_:_:)", int from_folder, const char *LEGACY from, int to_folder, const char *LEGACY to, int flags);
FUNCTION(int, renameat, "(_:_:_:_:)", int folder, const char *LEGACY from, int into, const char *LEGACY to);
FUNCTION(int, access, "(_:_:)", const char *LEGACY path, int mode);
FUNCTION(long, readlink, "(_:_:_:)", const char *LEGACY path, char *LEGACY into, size_t size);
FUNCTION(int, faccessat, "(_:_:_:_:)", int folder, const char *LEGACY path, int mode, int flags);
FUNCTION(char *LEGACY, getcwd, "(_:_:)", char *LEGACY path, size_t size);
FUNCTION(char *LEGACY, getenv, "(_:)", const char *LEGACY name);
FUNCTION(char *LEGACY, realpath, "(_:_:)", const char *LEGACY path, char *LEGACY into);
FUNCTION(char *LEGACY, mkdtemp, "(_:)", char *LEGACY pattern);
FUNCTION(darwin_DIR *LEGACY, opendir, "(_:)", const char *LEGACY path);
FUNCTION(darwin_DIR *LEGACY, fdopendir, "(_:)", int file);
FUNCTION(struct darwin_dirent *LEGACY, readdir, "(_:)", darwin_DIR *LEGACY folder);
FUNCTION(void, rewinddir, "(_:)", darwin_DIR *LEGACY folder);
FUNCTION(int, closedir, "(_:)", darwin_DIR *LEGACY folder);
FUNCTION(int, dirfd, "(_:)", darwin_DIR *LEGACY folder);
FUNCTION(int, poll, "(_:_:_:)", struct darwin_pollfd *LEGACY files, uint32_t count, int milliseconds);

// mmap(2), munmap(2), mprotect(2), mlock(2), madvise(2), minherit(2), memset_s(3), memset(3), memcmp(3), memcpy(3), strlen(3),
// strerror(3), malloc(3), arc4random(3), getentropy(2)
FUNCTION(void *LEGACY, mmap, "(_:_:_:_:_:_:)", void *LEGACY at, size_t size, int protection, int flags, int file, int64_t offset);
FUNCTION(int, munmap, "(_:_:)", void *LEGACY at, size_t size);
FUNCTION(int, mprotect, "(_:_:_:)", void *LEGACY at, size_t size, int protection);
FUNCTION(int, mlock, "(_:_:)", const void *LEGACY at, size_t size);
FUNCTION(int, munlock, "(_:_:)", const void *LEGACY at, size_t size);
FUNCTION(int, madvise, "(_:_:_:)", void *LEGACY at, size_t size, int advice);
FUNCTION(int, minherit, "(_:_:_:)", void *LEGACY at, size_t size, int inheritance);
FUNCTION(int, memset_s, "(_:_:_:_:)", void *LEGACY bytes, size_t size, int value, size_t count);
FUNCTION(void *LEGACY, memset, "(_:_:_:)", void *LEGACY bytes, int value, size_t count);
FUNCTION(int, memcmp, "(_:_:_:)", const void *LEGACY one, const void *LEGACY other, size_t count);
FUNCTION(void *LEGACY, memcpy, "(_:_:_:)", void *LEGACY to, const void *LEGACY from, size_t count);
FUNCTION(size_t, strlen, "(_:)", const char *LEGACY text);
FUNCTION(char *LEGACY, strerror, "(_:)", int number);
FUNCTION(void, free, "(_:)", void *LEGACY bytes);
FUNCTION(void, arc4random_buf, "(_:_:)", void *LEGACY bytes, size_t count);
FUNCTION(uint32_t, arc4random, "()", void);
FUNCTION(int, getentropy, "(_:_:)", void *bytes, size_t count);

// clock_gettime(3), nanosleep(2), usleep(3), sleep(3), sysconf(3), sysctl(3), getpid(2), kill(2), getuid(2), getrlimit(2),
// signal(3), sigsetops(3), sigprocmask(2), pthread_sigmask(2)
FUNCTION(int, clock_gettime, "(_:_:)", darwin_clockid_t clock, struct darwin_timespec *LEGACY time);
FUNCTION(int, nanosleep, "(_:_:)", const struct darwin_timespec *LEGACY time, struct darwin_timespec *LEGACY rest);
FUNCTION(int, usleep, "(_:)", uint32_t microseconds);
FUNCTION(uint32_t, sleep, "(_:)", uint32_t seconds);
FUNCTION(long, sysconf, "(_:)", int name);
FUNCTION(int, sysctlbyname, "(_:_:_:_:_:)", const char *LEGACY name, void *LEGACY old, size_t *LEGACY size, void *LEGACY value, size_t count);
FUNCTION(int, getpid, "()", void);
// exit(3), _exit(2), fflush(3)
FUNCTION(void, exit, "(_:)", int status) __attribute__((noreturn));
FUNCTION(void, _exit, "(_:)", int status) __attribute__((noreturn));
FUNCTION(int, fflush, "(_:)", struct darwin_FILE *LEGACY stream);
FUNCTION(int, kill, "(_:_:)", int process, int signal);
FUNCTION(uint32_t, getuid, "()", void);
FUNCTION(uint32_t, geteuid, "()", void);
FUNCTION(int, setrlimit, "(_:_:)", int resource, const struct darwin_rlimit *LEGACY limit);
FUNCTION(int, getrlimit, "(_:_:)", int resource, struct darwin_rlimit *LEGACY limit);
darwin_sig_t _Null_unspecified darwin_signal(int signal, darwin_sig_t _Null_unspecified handler) NAMED("signal(_:_:)");
FUNCTION(int, sigfillset, "(_:)", uint32_t *LEGACY set);
FUNCTION(int, sigemptyset, "(_:)", uint32_t *LEGACY set);
FUNCTION(int, sigaddset, "(_:_:)", uint32_t *LEGACY set, int signal);
FUNCTION(int, pthread_sigmask, "(_:_:_:)", int how, const uint32_t *LEGACY set, uint32_t *LEGACY before);

// pthread(3) and the page of each function; nullability as Swift shows it
FUNCTION(darwin_pthread_t, pthread_self, "()", void);
FUNCTION(int, pthread_equal, "(_:_:)", darwin_pthread_t _Nullable one, darwin_pthread_t _Nullable other);
FUNCTION(int, pthread_create, "(_:_:_:_:)", darwin_pthread_t _Nullable *_Nonnull thread,
    const darwin_pthread_attr_t *_Nullable attributes, void *_Nullable (*_Nonnull start)(void *_Nonnull),
    void *_Nullable argument);
FUNCTION(int, pthread_join, "(_:_:)", darwin_pthread_t thread, void *_Nullable *_Nullable result);
FUNCTION(int, pthread_detach, "(_:)", darwin_pthread_t thread);
FUNCTION(int, pthread_main_np, "()", void);
TYPE(unsigned long, pthread_key_t);  // glibc: unsigned int
FUNCTION(int, pthread_key_create, "(_:_:)", darwin_pthread_key_t *key, void (*_Nullable end)(void *_Nonnull));
FUNCTION(void *_Nullable, pthread_getspecific, "(_:)", darwin_pthread_key_t key);
FUNCTION(int, pthread_setspecific, "(_:_:)", darwin_pthread_key_t key, const void *_Nullable value);
FUNCTION(int, pthread_mutex_init, "(_:_:)", darwin_pthread_mutex_t *mutex, const darwin_pthread_mutexattr_t *_Nullable kind);
FUNCTION(int, pthread_mutex_destroy, "(_:)", darwin_pthread_mutex_t *mutex);
FUNCTION(int, pthread_mutex_lock, "(_:)", darwin_pthread_mutex_t *mutex);
FUNCTION(int, pthread_mutex_unlock, "(_:)", darwin_pthread_mutex_t *mutex);
FUNCTION(int, pthread_cond_init, "(_:_:)", darwin_pthread_cond_t *condition, const darwin_pthread_condattr_t *_Nullable kind);
FUNCTION(int, pthread_cond_destroy, "(_:)", darwin_pthread_cond_t *condition);
FUNCTION(int, pthread_cond_signal, "(_:)", darwin_pthread_cond_t *condition);
FUNCTION(int, pthread_cond_broadcast, "(_:)", darwin_pthread_cond_t *condition);
FUNCTION(int, pthread_cond_wait, "(_:_:)", darwin_pthread_cond_t *condition, darwin_pthread_mutex_t *mutex);
FUNCTION(int, pthread_cond_timedwait, "(_:_:_:)", darwin_pthread_cond_t *condition, darwin_pthread_mutex_t *mutex,
    const struct darwin_timespec *_Nullable until);

// What Swift's own overlay adds there (swiftlang/swift, stdlib/public/Platform).
int darwin_errno(void) NAMED("getter:errno()");
void darwin_set_errno(int number) NAMED("setter:errno(_:)");
void *LEGACY darwin_MAP_FAILED(void) NAMED("getter:MAP_FAILED()");
darwin_sig_t _Nullable darwin_SIG_DFL(void) NAMED("getter:SIG_DFL()");
darwin_sig_t _Nullable darwin_SIG_IGN(void) NAMED("getter:SIG_IGN()");

#undef NAMED
#undef TYPE
#undef NUMBER
#undef LEGACY
#undef OPAQUE
#undef FUNCTION
#pragma clang assume_nonnull end
