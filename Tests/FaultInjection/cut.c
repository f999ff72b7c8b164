// The power cut: every change is noted with what was there before, and forgotten when a flush makes it durable.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "faults.h"

#define BLOCK 512

enum note_kind { NOTE_WRITE, NOTE_CREATED, NOTE_REMOVED, NOTE_RENAMED, NOTE_FOLDER };

struct note {
    struct note *older;
    enum note_kind kind;
    bool forgotten;
    dev_t device;  // of the file for a write, else of the folder
    ino_t inode;
    // A write.
    int file;
    off_t offset, old_size;
    size_t length, old_length;
    unsigned char *old;
    // A name.
    char *path, *old_path, *saved;
};

// Files that were written, each with a descriptor of ours. Never closed: that would drop the process's locks.
struct written {
    struct written *next;
    dev_t device;
    ino_t inode;
    int file;
    off_t size;       // in a cut: what is left
};

// Blocks of a file that stay in a cut, so that older writes to them are not undone either.
struct kept {
    struct kept *next;
    ino_t inode;
    off_t block;
};

static struct note *newest;
static struct written *files;
static struct kept *kept;
static int saved_count;

static void *zeroed(size_t size) {
    void *memory = calloc(1, size);
    if (!memory) abort();
    return memory;
}

static char *copy(const char *text) {
    char *memory = strdup(text);
    if (!memory) abort();
    return memory;
}

static struct note *note(enum note_kind kind, dev_t device, ino_t inode) {
    struct note *note = zeroed(sizeof *note);
    note->kind = kind;
    note->device = device;
    note->inode = inode;
    note->older = newest;
    newest = note;
    return note;
}

static int descriptor(int file, const struct stat *status) {
    for (struct written *known = files; known; known = known->next)
        if (known->device == status->st_dev && known->inode == status->st_ino) return known->file;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    struct written *new = zeroed(sizeof *new);
    new->file = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDWR | O_CLOEXEC, 0);
    if (new->file < 0) abort();
    new->device = status->st_dev;
    new->inode = status->st_ino;
    new->next = files;
    files = new;
    return new->file;
}

void cut_note_write(int file, off_t offset, size_t length) {
    struct stat status;
    if (fstat(file, &status) || !S_ISREG(status.st_mode)) return;
    // What is written through such a descriptor is on the disk at once.
    if (fcntl(file, F_GETFL) & O_DSYNC) return;
    struct note *write = note(NOTE_WRITE, status.st_dev, status.st_ino);
    write->file = descriptor(file, &status);
    write->offset = offset;
    write->length = length;
    write->old_size = status.st_size;
    write->old = zeroed(length + 1);
    ssize_t got = pread(write->file, write->old, length, offset);
    write->old_length = got > 0 ? (size_t)got : 0;
}

static struct note *note_name(enum note_kind kind, const char *path) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *last = strrchr(folder, '/');
    if (last) *last = '\0';
    struct stat status;
    if (stat(folder, &status)) return NULL;
    struct note *name = note(kind, status.st_dev, status.st_ino);
    name->path = copy(path);
    return name;
}

// A second name, so that the file can come back.
static char *save(const char *path) {
    const char *trash = getenv("HOLDFAST_FAULT_TRASH");
    char saved[PATH_MAX];
    if (!trash) return NULL;
    snprintf(saved, sizeof saved, "%s/%d-%d", trash, getpid(), saved_count++);
    return syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, saved, 0) ? NULL : copy(saved);
}

void cut_note_created(const char *path) { note_name(NOTE_CREATED, path); }
void cut_note_folder(const char *path) { note_name(NOTE_FOLDER, path); }

void cut_note_removed(const char *path) {
    char *saved = save(path);
    struct note *name = saved ? note_name(NOTE_REMOVED, path) : NULL;
    if (name) name->saved = saved;
}

void cut_note_renamed(const char *old, const char *path) {
    char *saved = save(path);
    struct note *name = note_name(NOTE_RENAMED, path);
    if (!name) return;
    name->old_path = copy(old);
    name->saved = saved;
}

// Flushing a folder makes its names durable, flushing a file its contents; not the other way round.
void cut_forget(int file) {
    struct stat status;
    if (fstat(file, &status)) return;
    for (struct note *note = newest; note; note = note->older)
        if (note->device == status.st_dev && note->inode == status.st_ino) note->forgotten = true;
}

static unsigned long draw(unsigned long *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static bool stays(ino_t inode, off_t block) {
    for (struct kept *known = kept; known; known = known->next)
        if (known->inode == inode && known->block == block) return true;
    return false;
}

static void undo_write(const struct note *write, unsigned long *state, bool all, struct written *file) {
    off_t end = write->offset + (off_t)write->length;
    for (off_t from = write->offset; from < end;) {
        off_t block = from / BLOCK, to = (block + 1) * BLOCK;
        if (to > end) to = end;
        if (!stays(write->inode, block)) {
            size_t start = (size_t)(from - write->offset), size = (size_t)(to - from);
            if (all || draw(state) % 2) {
                syscall(SYS_pwrite64, write->file, write->old + start, size, from);
            } else {
                struct kept *new = zeroed(sizeof *new);
                *new = (struct kept){.next = kept, .inode = write->inode, .block = block};
                kept = new;
                if (file->size < to) file->size = to;
            }
        }
        from = to;
    }
}

// Moved, not linked: a file that came back has the one name that it had.
static void put_back(const struct note *name) {
    syscall(SYS_renameat2, AT_FDCWD, name->saved, AT_FDCWD, name->path, 1);  // over nothing
}

static void undo_name(const struct note *name) {
    switch (name->kind) {
    case NOTE_CREATED: syscall(SYS_unlinkat, AT_FDCWD, name->path, 0); break;
    case NOTE_REMOVED: put_back(name); break;
    case NOTE_RENAMED:
        syscall(SYS_renameat2, AT_FDCWD, name->path, AT_FDCWD, name->old_path, 0);
        if (name->saved) put_back(name);
        break;
    case NOTE_FOLDER: {
        const char *trash = getenv("HOLDFAST_FAULT_TRASH");
        char gone[PATH_MAX];
        snprintf(gone, sizeof gone, "%s/folder-%d-%d", trash ? trash : "/tmp", getpid(), saved_count++);
        syscall(SYS_renameat2, AT_FDCWD, name->path, AT_FDCWD, gone, 0);
        break;
    }
    case NOTE_WRITE: break;
    }
}

void cut_now(unsigned long seed) {
    unsigned long state = seed * 2654435761u + 88172645463325252u;
    for (int warm = 0; warm < 8; warm++) draw(&state);
    bool all = draw(&state) % 4 == 0;
    int names = 0;
    for (struct note *note = newest; note; note = note->older) names += note->kind != NOTE_WRITE && !note->forgotten;
    int lost = all ? names : (int)(draw(&state) % (unsigned)(names + 1));
    // The size that a flush last made durable is that before the oldest write that is not.
    for (struct written *file = files; file; file = file->next) {
        file->size = -1;
        for (struct note *note = newest; note; note = note->older)
            if (note->kind == NOTE_WRITE && !note->forgotten && note->inode == file->inode) file->size = note->old_size;
    }
    for (struct note *note = newest; note; note = note->older) {
        if (note->forgotten) continue;
        if (note->kind != NOTE_WRITE) {
            if (lost-- > 0) undo_name(note);
            continue;
        }
        for (struct written *file = files; file; file = file->next)
            if (file->inode == note->inode) undo_write(note, &state, all, file);
    }
    for (struct written *file = files; file; file = file->next)
        if (file->size >= 0) syscall(SYS_ftruncate, file->file, file->size);
}
