#include "MemorySearch.h"

enum { words = 8192, above = 64, mark_byte = 0xA7 };
static const uint64_t mark = 0x0101010101010101u * mark_byte;

__attribute__((noinline)) void memory_stack_mark(void) {
    volatile uint64_t all[words];
    for (size_t index = 0; index < words; index++) all[index] = mark;
}

__attribute__((noinline)) memory_stack_extent memory_stack_look(void) {
    // What is not part of this frame, from far below up. The compiler must not know that it is no object's.
    volatile uint64_t *frame = __builtin_frame_address(0);
    __asm__ volatile("" : "+r"(frame));
    memory_stack_extent extent = {0, 0};
    size_t depth = words - above;
    while (depth > above && frame[-(ptrdiff_t)depth] == mark) depth--;
    extent.reached = depth * sizeof(uint64_t);
    while (depth > above && frame[-(ptrdiff_t)depth] == 0) {
        depth--;
        extent.cleared += sizeof(uint64_t);
    }
    return extent;
}
