// Included once for each library, with FILE_NAMES, LIBRARY and FUNCTIONS.
#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)
#define JOIN_OF(first, second) first##second
#define JOIN(first, second) JOIN_OF(first, second)

__asm__(SLOTS "late_slots_" TEXT(LIBRARY) ": .quad 0\n.popsection\n"
        NAMES "late_names_" TEXT(LIBRARY) ":\n.popsection\n"
        CODE "late_first_" TEXT(LIBRARY) ":\n.cfi_startproc\n" LOAD(TEXT(LIBRARY)) ".cfi_endproc\n.popsection\n");
#define LATE(name) \
    __asm__(SLOTS "late_slot_" #name ": .quad late_to_" #name "\n.popsection\n" NAMES ".asciz \"" #name "\"\n.popsection\n" \
            CODE ".globl late_" #name "\n.hidden late_" #name "\n.type late_" #name ", " TYPE "\n" \
            "late_" #name ":\n.cfi_startproc\n" ENTRY JUMP(#name) \
            "late_to_" #name ":\n" ENTRY FIRST(#name, TEXT(LIBRARY)) ".cfi_endproc\n.popsection\n");
#include FUNCTIONS
#undef LATE
__asm__(NAMES ".byte 0\n.popsection\n");

extern void *JOIN(late_slots_, LIBRARY)[] __attribute__((visibility("hidden")));
extern const char JOIN(late_names_, LIBRARY)[] __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"), used)) const struct library JOIN(late_library_, LIBRARY) = {
    FILE_NAMES, JOIN(late_names_, LIBRARY), JOIN(late_slots_, LIBRARY)};

#undef TEXT_OF
#undef TEXT
#undef JOIN_OF
#undef JOIN
#undef FILE_NAMES
#undef LIBRARY
#undef FUNCTIONS
