// Only the declarations are used: the library is loaded when a passcode is asked for, so that a command that asks for none
// does not pay for it, and one on a machine without it starts.
#pragma once
#include <dlfcn.h>
#include <security/pam_appl.h>

typedef struct cpam {
    __typeof__(&pam_start) start;
    __typeof__(&pam_start_confdir) start_confdir;
    __typeof__(&pam_authenticate) authenticate;
    __typeof__(&pam_acct_mgmt) acct_mgmt;
    __typeof__(&pam_end) end;
    __typeof__(&pam_strerror) strerror;
} cpam;

// 1 when every function was found.
static inline int cpam_load(cpam *table) {
    void *library = dlopen("libpam.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    *(void **)&table->start = dlsym(library, "pam_start");
    *(void **)&table->start_confdir = dlsym(library, "pam_start_confdir");
    *(void **)&table->authenticate = dlsym(library, "pam_authenticate");
    *(void **)&table->acct_mgmt = dlsym(library, "pam_acct_mgmt");
    *(void **)&table->end = dlsym(library, "pam_end");
    *(void **)&table->strerror = dlsym(library, "pam_strerror");
    return table->start && table->start_confdir && table->authenticate && table->acct_mgmt && table->end &&
           table->strerror;
}
