// Which call fails, and what a power cut takes.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum call_kind { CALL_WRITE, CALL_SIZE, CALL_SYNC, CALL_OPEN, CALL_CREATE, CALL_NAME, CALL_REMOVE, CALL_MODE };

struct call {
    bool counted;  // concerns the folder; the lock is held until fault_end
    bool tear;     // to be done by half
    int error;     // to be refused with this number, or 0
};

// Begins a call on an open file, or on a path below an open folder. Does not return when the process is to be killed.
struct call fault_on_file(enum call_kind kind, const char *name, int file);
struct call fault_on_path(enum call_kind kind, const char *name, int folder, const char *path);

// Ends it; kills the process after a torn one.
void fault_end(struct call call);

// A flush of any file returned.
void fault_flushed(struct call call, int file);

// The absolute path that a call names; false when it is too long.
bool fault_path(int folder, const char *path, char *absolute, size_t size);

// What would be lost without a flush. Called with the lock held, before the change is made.
bool cut_is_planned(void);
void cut_note_write(int file, off_t offset, size_t length);
void cut_note_created(const char *path);
void cut_note_removed(const char *path);
void cut_note_renamed(const char *old, const char *path);
void cut_note_folder(const char *path);
// What was noted of this file or folder is durable.
void cut_forget(int file);
// Takes away what was not flushed.
void cut_now(unsigned long seed);
