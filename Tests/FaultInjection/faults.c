#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static enum { ACTION_NONE, ACTION_COUNT, ACTION_FAIL, ACTION_KILL, ACTION_TEAR, ACTION_CUT } action;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char under[PATH_MAX];
static long count, at;
static int error_number;
static bool once;
static unsigned long seed;
static int log_file = -1;

static long number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

__attribute__((constructor)) static void start(void) {
    const char *folder = getenv("HOLDFAST_FAULT_UNDER"), *what = getenv("HOLDFAST_FAULT");
    if (!folder || strlen(folder) >= sizeof under) return;
    strcpy(under, folder);
    at = number("HOLDFAST_FAULT_AT");
    error_number = (int)number("HOLDFAST_FAULT_ERROR");
    seed = (unsigned long)number("HOLDFAST_FAULT_SEED");
    once = getenv("HOLDFAST_FAULT_ONCE") != NULL;
    const char *log = getenv("HOLDFAST_FAULT_LOG");
    // By number, not by name: these must not come back to us.
    if (log) log_file = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    action = !what || !strcmp(what, "count") ? ACTION_COUNT
        : !strcmp(what, "fail")              ? ACTION_FAIL
        : !strcmp(what, "kill")              ? ACTION_KILL
        : !strcmp(what, "tear")              ? ACTION_TEAR
        : !strcmp(what, "cut")               ? ACTION_CUT
                                             : ACTION_NONE;
    if (action == ACTION_NONE) abort();
}

// A cut that no call was left for comes when the process has ended.
__attribute__((destructor)) static void stop(void) {
    if (action == ACTION_CUT && count < at) cut_now(seed);
}

static bool concerns(const char *path) {
    size_t size = strlen(under);
    return !strncmp(path, under, size) && (path[size] == '/' || path[size] == '\0');
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

// Some calls need no room on the disk.
static bool befalls(enum call_kind kind) {
    if (error_number != ENOSPC) return true;
    return kind != CALL_OPEN && kind != CALL_REMOVE && kind != CALL_MODE;
}

static struct call begin(enum call_kind kind, const char *name, const char *path) {
    struct call call = {.counted = true};
    pthread_mutex_lock(&lock);
    count += 1;
    if (log_file >= 0) {
        char line[PATH_MAX + 64];
        const char *last = strrchr(path, '/');
        int size = snprintf(line, sizeof line, "%s %s\n", name, last ? last + 1 : path);
        syscall(SYS_write, log_file, line, size);
    }
    bool due = count == at;
    if (action == ACTION_FAIL && (due || (count > at && !once)) && befalls(kind)) call.error = error_number;
    if (due && action == ACTION_KILL) die();
    if (due && action == ACTION_CUT) {
        cut_now(seed);
        die();
    }
    call.tear = due && action == ACTION_TEAR;
    return call;
}

struct call fault_on_file(enum call_kind kind, const char *name, int file) {
    struct call none = {0};
    if (action == ACTION_NONE) return none;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return none;
    path[size] = '\0';
    return concerns(path) ? begin(kind, name, path) : none;
}

struct call fault_on_path(enum call_kind kind, const char *name, int folder, const char *path) {
    struct call none = {0};
    char absolute[PATH_MAX];
    if (action == ACTION_NONE || !fault_path(folder, path, absolute, sizeof absolute)) return none;
    return concerns(absolute) ? begin(kind, name, absolute) : none;
}

void fault_end(struct call call) {
    if (!call.counted) return;
    if (call.tear) die();
    int number = errno;
    pthread_mutex_unlock(&lock);
    errno = number;
}

void fault_flushed(struct call call, int file) {
    if (!call.counted) pthread_mutex_lock(&lock);
    cut_forget(file);
    if (!call.counted) pthread_mutex_unlock(&lock);
}

bool fault_path(int folder, const char *path, char *absolute, size_t size) {
    // Libraries reach a file through the folder that is open.
    int open_folder, length = 0;
    if (sscanf(path, "/proc/self/fd/%d/%n", &open_folder, &length) == 1 && length > 0)
        return fault_path(open_folder, path + length, absolute, size);
    if (path[0] == '/') return snprintf(absolute, size, "%s", path) < (int)size;
    char base[PATH_MAX];
    if (folder == AT_FDCWD) {
        if (!getcwd(base, sizeof base)) return false;
    } else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, base, sizeof base - 1);
        if (length < 0) return false;
        base[length] = '\0';
    }
    if (!strcmp(path, ".")) return snprintf(absolute, size, "%s", base) < (int)size;
    return snprintf(absolute, size, "%s/%s", base, path) < (int)size;
}

bool cut_is_planned(void) { return action == ACTION_CUT; }
