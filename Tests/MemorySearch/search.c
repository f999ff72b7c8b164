#define _GNU_SOURCE
#include "MemorySearch.h"

#if defined(__linux__)
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most_threads = 1024, most_registers = 16384, page = 4096, window = 1 << 20, table_bits = 20 };

typedef struct search {
    const memory_piece *pieces;
    size_t count;
    memory_hit *hits;
    size_t capacity, found;
    // The first piece whose first eight bytes have this hash, and for each piece the next one; counted from 1.
    uint32_t table[1 << table_bits];
    uint32_t *next;
} search;

static uint64_t head(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static size_t slot(uint64_t head) { return (size_t)((head * 0x9E3779B97F4A7C15u) >> (64 - table_bits)); }

static void note(search *search, size_t piece, uint64_t address, const char *place) {
    if (search->found < search->capacity) {
        memory_hit *hit = &search->hits[search->found];
        hit->piece = piece;
        hit->address = address;
        snprintf(hit->place, sizeof hit->place, "%s", place);
    }
    search->found++;
}

static void look(search *search, const uint8_t *bytes, size_t count, uint64_t address, const char *place) {
    for (size_t offset = 0; offset + memory_search_shortest <= count; offset++) {
        uint64_t value = head(bytes + offset);
        for (uint32_t piece = search->table[slot(value)]; piece > 0; piece = search->next[piece - 1]) {
            const memory_piece *sought = &search->pieces[piece - 1];
            if (head(sought->bytes) != value || offset + sought->count > count) continue;
            if (memcmp(bytes + offset, sought->bytes, sought->count) == 0)
                note(search, piece - 1, address + offset, place);
        }
    }
}

// Whether a thread has ended, or is about to: no process may be traced then, which the kernel calls EPERM.
static int has_ended(pid_t process, pid_t thread) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", process, thread);
    FILE *file = fopen(path, "r");
    char *read = file ? fgets(line, sizeof line, file) : NULL;
    if (file) fclose(file);
    char *name_end = read ? strrchr(line, ')') : NULL;
    int has_ended = !name_end || strchr("ZXx", name_end[2]) != NULL;
    errno = EPERM;
    return has_ended;
}

// Stops threads that are not stopped yet. Returns how many are stopped now, or -1.
static int stop_new(pid_t process, pid_t *threads, int count) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *folder = opendir(path);
    if (!folder) return -1;
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        pid_t thread = atoi(entry->d_name);
        int known = thread == 0;
        for (int index = 0; index < count; index++) known |= threads[index] == thread;
        if (known || count == most_threads) continue;
        if (ptrace(PTRACE_SEIZE, thread, 0, 0) != 0) {
            if (errno == ESRCH || (errno == EPERM && has_ended(process, thread))) continue;
            int error = errno;
            closedir(folder);
            errno = error;
            return -1;
        }
        int status;
        ptrace(PTRACE_INTERRUPT, thread, 0, 0);
        while (waitpid(thread, &status, __WALL) < 0 && errno == EINTR) {}
        threads[count++] = thread;
    }
    closedir(folder);
    return count;
}

static void let_go(const pid_t *threads, int count) {
    for (int index = 0; index < count; index++) ptrace(PTRACE_DETACH, threads[index], 0, 0);
}

static void look_at_registers(search *search, pid_t thread) {
    static const struct { long kind; const char *name; } kinds[] = {
        {NT_PRSTATUS, "general registers"},
#if defined(__x86_64__)
        {NT_X86_XSTATE, "vector registers"},
#else
        {NT_PRFPREG, "vector registers"},
#endif
    };
    static uint8_t registers[most_registers];
    for (size_t index = 0; index < sizeof kinds / sizeof kinds[0]; index++) {
        struct iovec area = {registers, sizeof registers};
        if (ptrace(PTRACE_GETREGSET, thread, (void *)kinds[index].kind, &area) != 0) continue;
        char place[64];
        snprintf(place, sizeof place, "%s of thread %d", kinds[index].name, thread);
        look(search, registers, area.iov_len, 0, place);
#if defined(__x86_64__)
        if (kinds[index].kind != NT_X86_XSTATE) continue;
        // The upper half of a wide register lies apart from its lower one: join what belongs together.
        uint8_t joined[16 * 64] = {0};
        for (size_t number = 0; number < 16 && area.iov_len >= 576 + 256; number++) {
            memcpy(joined + 64 * number, registers + 160 + 16 * number, 16);
            memcpy(joined + 64 * number + 16, registers + 576 + 16 * number, 16);
        }
        look(search, joined, sizeof joined, 0, place);
#endif
    }
}

static int ends_with(const char *text, const char *end) {
    size_t size = strlen(text), tail = strlen(end);
    return size >= tail && strcmp(text + size - tail, end) == 0;
}

// Looks at the pages of one mapping that are in memory.
static void look_at_mapping(
    search *search, int memory, int pages, uint64_t start, uint64_t end, const char *place, memory_extent *extent) {
    static uint8_t bytes[window + 64];
    static uint64_t present[window / page];
    size_t kept = 0; // the end of the page before, for what lies across
    for (uint64_t base = start; base < end; base += window) {
        size_t span = end - base < window ? (size_t)(end - base) : window;
        size_t number = span / page;
        if (pread(pages, present, number * 8, (off_t)(base / page * 8)) != (ssize_t)(number * 8))
            memset(present, 0xff, sizeof present);
        for (size_t index = 0; index < number;) {
            if (!(present[index] >> 62)) { // neither in memory nor swapped
                kept = 0;
                index++;
                continue;
            }
            size_t first = index;
            while (index < number && present[index] >> 62) index++;
            uint64_t address = base + first * page;
            ssize_t got = pread(memory, bytes + kept, (index - first) * page, (off_t)address);
            if (got <= 0) {
                kept = 0;
                continue;
            }
            look(search, bytes, kept + (size_t)got, address - kept, place);
            extent->bytes += (uint64_t)got;
            size_t tail = (size_t)got < 31 ? (size_t)got : 31;
            memmove(bytes, bytes + kept + got - tail, tail);
            kept = index == number && (size_t)got == (index - first) * page ? tail : 0;
        }
    }
}

static int look_at_memory(search *search, pid_t process, memory_extent *extent) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", process);
    int memory = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/%d/pagemap", process);
    int pages = open(path, O_RDONLY | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/%d/maps", process);
    FILE *maps = fopen(path, "re");
    int result = memory < 0 || pages < 0 || !maps ? -1 : 0;
    char line[4352];
    while (result == 0 && fgets(line, sizeof line, maps)) {
        uint64_t start, end;
        char rights[8], name[4096] = "";
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %4095[^\n]", &start, &end, rights, name) < 3)
            continue;
        if (strstr(name, "secretmem")) {
            extent->hidden++;
            continue;
        }
        if (rights[0] != 'r' || strcmp(name, "[vsyscall]") == 0 || strncmp(name, "[vvar", 5) == 0) continue;
        if (ends_with(name, ".mdb")) continue;
        char place[160];
        snprintf(place, sizeof place, "%.100s %s, from %" PRIx64, name[0] ? name : "[anonymous]", rights, start);
        look_at_mapping(search, memory, pages, start, end, place, extent);
        extent->mappings++;
    }
    int error = errno;
    if (maps) fclose(maps);
    if (memory >= 0) close(memory);
    if (pages >= 0) close(pages);
    errno = error;
    return result;
}

long memory_search(
    pid_t process, const memory_piece *pieces, size_t count, memory_hit *hits, size_t capacity,
    memory_extent *extent) {
    memset(extent, 0, sizeof *extent);
    search *search = calloc(1, sizeof *search);
    if (search) search->next = calloc(count + 1, sizeof *search->next);
    if (!search || !search->next) {
        free(search);
        errno = ENOMEM;
        return -1;
    }
    search->pieces = pieces;
    search->count = count;
    search->hits = hits;
    search->capacity = capacity;
    for (size_t piece = 0; piece < count; piece++) {
        if (pieces[piece].count < memory_search_shortest) {
            free(search->next);
            free(search);
            errno = EINVAL;
            return -1;
        }
        size_t place = slot(head(pieces[piece].bytes));
        search->next[piece] = search->table[place];
        search->table[place] = (uint32_t)piece + 1;
    }
    pid_t threads[most_threads];
    int stopped = 0, failed = 0, error = 0;
    while (!failed) { // until a look finds no new one
        int now = stop_new(process, threads, stopped);
        if (now < 0) {
            failed = 1;
            error = errno;
        } else if (now == stopped) {
            break;
        } else {
            stopped = now;
        }
    }
    for (int index = 0; index < stopped && !failed; index++) look_at_registers(search, threads[index]);
    if (!failed && look_at_memory(search, process, extent) != 0) {
        failed = 1;
        error = errno;
    }
    let_go(threads, stopped);
    extent->threads = (uint64_t)stopped;
    long found = failed ? -1 : (long)search->found;
    free(search->next);
    free(search);
    errno = error;
    return found;
}

void memory_search_refuse_descriptors(int refused) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = refused ? 0 : limit.rlim_max < 1024 ? limit.rlim_max : 1024;
    setrlimit(RLIMIT_NOFILE, &limit);
}

void memory_search_allow(void) { prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); }
#endif
