// Libraries that are loaded when one of their functions is first called: a program that calls none of them does not pay
// for their thousands of relocations. Sources/C*/functions.h list the functions, and the shims beside them have the
// compiler call each as `late_NAME`, which is here. A function that is missing in its list is an error of the linker.
//
// `late_NAME` jumps to where its slot points: at first to what loads the library, then to the function itself. A library
// is loaded once, and its slots never change afterwards. They are read-only before and after that, as what the loader
// resolves at the start of a program is (full RELRO).
#include "LateLibraries.h"

#if defined(__linux__)
#include <dlfcn.h>
#include <lmdb.h>
#include <openssl/opensslv.h>
#include <pthread.h>
#include <sodium/version.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define PAGES "4096"
// Called, or reached through its address.
#define ENTRY "endbr64\n"
#define JUMP(name) "jmpq *late_slot_" name "(%rip)\n"
#define FIRST(name, library) "leaq late_slot_" name "(%rip), %r11\n jmp late_first_" library "\n"
#define PUSH(register) "pushq %" register "\n .cfi_adjust_cfa_offset 8\n"
#define POP(register) "popq %" register "\n .cfi_adjust_cfa_offset -8\n"
// Keeps the arguments, of which none is a floating-point number, and the stack aligned.
#define LOAD(library) \
    PUSH("rdi") PUSH("rsi") PUSH("rdx") PUSH("rcx") PUSH("r8") PUSH("r9") PUSH("r11") \
    "leaq late_library_" library "(%rip), %rdi\n callq late_load\n" \
    POP("r11") POP("r9") POP("r8") POP("rcx") POP("rdx") POP("rsi") POP("rdi") "jmpq *(%r11)\n"
#define TYPE "@function"
#elif defined(__aarch64__)
#define PAGES "65536"
#define ENTRY "hint #34\n"
// An acquire: who gets the function sees the data of its library.
#define JUMP(name) \
    "adrp x16, late_slot_" name "\n add x16, x16, :lo12:late_slot_" name "\n ldar x16, [x16]\n br x16\n"
#define FIRST(name, library) \
    "adrp x17, late_slot_" name "\n add x17, x17, :lo12:late_slot_" name "\n b late_first_" library "\n"
#define LOAD(library) \
    "stp x29, x30, [sp, #-96]!\n .cfi_def_cfa_offset 96\n .cfi_offset x29, -96\n .cfi_offset x30, -88\n" \
    "stp x0, x1, [sp, #16]\n stp x2, x3, [sp, #32]\n stp x4, x5, [sp, #48]\n" \
    "stp x6, x7, [sp, #64]\n stp x8, x17, [sp, #80]\n" \
    "adrp x0, late_library_" library "\n add x0, x0, :lo12:late_library_" library "\n bl late_load\n" \
    "ldp x8, x17, [sp, #80]\n ldp x6, x7, [sp, #64]\n ldp x4, x5, [sp, #48]\n ldp x2, x3, [sp, #32]\n" \
    "ldp x0, x1, [sp, #16]\n ldp x29, x30, [sp], #96\n" \
    ".cfi_restore x29\n .cfi_restore x30\n .cfi_def_cfa_offset 0\n ldr x16, [x17]\n br x16\n"
#define TYPE "%function"
#else
#error "no jumps for this processor"
#endif

#define SLOTS ".pushsection .data.rel.ro.late, \"aw\"\n"
#define NAMES ".pushsection .rodata.late, \"a\"\n"
#define CODE ".pushsection .text\n"

struct library {
    // What systems call its file: the first that is there is it.
    const char *files;
    // Its functions' names, and their slots in the same order, behind one that says whether they are final.
    const char *names;
    void **slots;
};

// Whole pages, which nothing else lies in.
__asm__(SLOTS ".balign " PAGES "\n late_slots:\n.popsection\n");
extern char late_slots[] __attribute__((visibility("hidden")));
extern char late_slots_end[] __attribute__((visibility("hidden")));

#if OPENSSL_VERSION_MAJOR != 3
#error "not OpenSSL 3: see that functions.h of COpenSSL means the same there, then name its file here"
#endif
#define FILE_NAMES "libcrypto.so.3\0"
#define LIBRARY crypto
#define FUNCTIONS "../COpenSSL/functions.h"
#include "library.h"

#if SODIUM_LIBRARY_VERSION_MAJOR == 10
#define FILE_NAMES "libsodium.so.23\0"
#elif SODIUM_LIBRARY_VERSION_MAJOR == 26
#define FILE_NAMES "libsodium.so.26\0"
#else
#error "an unknown libsodium: name here the file that `objdump -p` calls its SONAME"
#endif
#define LIBRARY sodium
#define FUNCTIONS "../CSodium/functions.h"
#include "library.h"

#define FILE_NAMES "libargon2.so.1\0"
#define LIBRARY argon2
#define FUNCTIONS "../CArgon2/functions.h"
#include "library.h"

// Debian's, Fedora's, openSUSE's, Arch's.
#define LMDB_VERSION TEXT(MDB_VERSION_MAJOR) "." TEXT(MDB_VERSION_MINOR) "." TEXT(MDB_VERSION_PATCH)
#define FILE_NAMES "liblmdb.so.0\0liblmdb.so.0.0.0\0liblmdb-" LMDB_VERSION ".so\0liblmdb.so\0"
#define LIBRARY lmdb
#define FUNCTIONS "../CLMDB/functions.h"
#include "library.h"

#define FILE_NAMES "libtss2-esys.so.0\0"
#define LIBRARY esys
#define FUNCTIONS "../CTSS2/esys.h"
#include "library.h"

#define FILE_NAMES "libtss2-mu.so.0\0"
#define LIBRARY mu
#define FUNCTIONS "../CTSS2/mu.h"
#include "library.h"

#define FILE_NAMES "libtss2-rc.so.0\0"
#define LIBRARY rc
#define FUNCTIONS "../CTSS2/rc.h"
#include "library.h"

#define FILE_NAMES "libtss2-tctildr.so.0\0"
#define LIBRARY tctildr
#define FUNCTIONS "../CTSS2/tctildr.h"
#include "library.h"

__asm__(SLOTS ".balign " PAGES "\n late_slots_end:\n.popsection\n");

static const char *next(const char *name) { return name + strlen(name) + 1; }

// As the loader does for a program that lacks a library.
static _Noreturn void fail(const struct library *library, const char *reason) {
    const char *parts[] = {"error while loading ", library->files, ": ", reason ? reason : "unknown", "\n"};
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
        if (write(STDERR_FILENO, parts[part], strlen(parts[part])) < 0) break;
    }
    _exit(127);
}

static void protect(int access, const struct library *library) {
    if (mprotect(late_slots, (size_t)(late_slots_end - late_slots), access) != 0) fail(library, "mprotect");
}

static void load(const struct library *library) {
    void *handle = NULL;
    for (const char *file = library->files; *file && !handle; file = next(file)) {
        handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    }
    if (!handle) {
        // What is said is what is wrong with the first one.
        dlopen(library->files, RTLD_NOW | RTLD_LOCAL);
        fail(library, dlerror());
    }
    protect(PROT_READ | PROT_WRITE, library);
    void **slot = library->slots;
    for (const char *name = library->names; *name; name = next(name)) {
        void *function = dlsym(handle, name);
        if (!function) fail(library, dlerror());
        __atomic_store_n(++slot, function, __ATOMIC_RELEASE);
    }
    __atomic_store_n(library->slots, handle, __ATOMIC_RELEASE);
    protect(PROT_READ, library);
}

// The first call of each function comes here, until its slot is final: perhaps of several threads at once.
__attribute__((visibility("hidden"), used)) void late_load(const struct library *library) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (__atomic_load_n(library->slots, __ATOMIC_ACQUIRE)) return;
    pthread_mutex_lock(&lock);
    if (!*library->slots) load(library);
    pthread_mutex_unlock(&lock);
}

void late_load_server(void) {
    const struct library *all[] = {
        &late_library_crypto, &late_library_sodium, &late_library_argon2, &late_library_esys,
        &late_library_mu,     &late_library_rc,     &late_library_tctildr,
    };
    for (size_t index = 0; index < sizeof all / sizeof *all; index++) late_load(all[index]);
}

void late_load_all(void) {
    late_load_server();
    late_load(&late_library_lmdb);
}
#endif
