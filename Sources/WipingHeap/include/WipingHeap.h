// A heap that forgets: in a program that is linked with this target, memory is zeroed when it is given back, by whatever
// part of the program or its libraries. Swift's strings and arrays, a library's buffers and keys leave nothing behind in
// freed memory then. A block's contents also go when it moves to grow.
//
// It stands in front of the C library's own allocator (glibc), which does all the rest. Elsewhere, and under a sanitizer
// that has an allocator of its own, it does nothing. For programs: a library must not choose its program's allocator.
#pragma once

// 1 when freed memory is zeroed in this program.
int wiping_heap_is_active(void);
