// Looks for byte strings in the whole memory of another process and in the registers of its threads, as whoever may trace
// it can: root, and on most systems its own user where the process allows it. Linux only; for tests only.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// What is looked for, at any address. Never shorter than this.
enum { memory_search_shortest = 8 };

typedef struct memory_piece {
    const uint8_t *bytes;
    size_t count;
} memory_piece;

typedef struct memory_hit {
    size_t piece;
    uint64_t address;
    // The mapping and the address in it, or the thread and the kind of its registers.
    char place[160];
} memory_hit;

typedef struct memory_extent {
    // What was looked at.
    uint64_t mappings, bytes, threads;
    // Mappings that the kernel keeps from everybody (memfd_secret).
    uint64_t hidden;
} memory_extent;

// Stops the threads of `process`, looks at their registers and at every readable page that is in memory, and lets them go on.
// Pages of files that no part of the process has touched are the file's own; so are those of databases (*.mdb).
// Returns the number of hits, of which the first `capacity` are stored; or -1 with errno.
long memory_search(
    pid_t process, const memory_piece *pieces, size_t count, memory_hit *hits, size_t capacity, memory_extent *extent);

// Lets this process have no new descriptor, or again as many as before: while it has none it gets no memory of the kind
// that the kernel hides (memfd_secret), which keeps that answer for its life.
void memory_search_refuse_descriptors(int refused);

// Lets the parent of this process trace it, against what it was told when it started.
void memory_search_allow(void);

typedef struct memory_stack_extent {
    // Bytes from the caller down to the lowest that was changed.
    size_t reached;
    // How many of those are zero, from the lowest up.
    size_t cleared;
} memory_stack_extent;

// Marks 64 KiB of this thread's stack below the caller.
void memory_stack_mark(void);

// What was changed of it since, by what the same function called. All but the first 512 bytes, where this has its frame.
memory_stack_extent memory_stack_look(void);
