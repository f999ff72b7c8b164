// Only the declarations are used: the library is loaded when a bus is needed, so that a command that needs none does not
// pay for it, and one on a machine without it starts.
#pragma once
#include <dlfcn.h>
#include <systemd/sd-bus.h>

#define CSYSTEMD_FUNCTIONS(X) \
    X(new) \
    X(set_address) \
    X(set_bus_client) \
    X(start) \
    X(open_user) \
    X(close_unref) \
    X(get_fd) \
    X(get_events) \
    X(get_timeout) \
    X(process) \
    X(wait) \
    X(flush) \
    X(call) \
    X(error_free) \
    X(message_new_method_call) \
    X(message_append_basic) \
    X(message_read_basic) \
    X(message_enter_container) \
    X(message_exit_container) \
    X(message_at_end) \
    X(message_skip) \
    X(message_peek_type) \
    X(message_get_interface) \
    X(message_get_member) \
    X(message_get_path) \
    X(message_get_sender) \
    X(message_unref) \
    X(message_new_method_return) \
    X(message_new_method_error) \
    X(message_new_signal) \
    X(message_set_destination) \
    X(message_append_array) \
    X(message_open_container) \
    X(message_close_container) \
    X(message_read_array) \
    X(message_get_signature) \
    X(message_get_expect_reply) \
    X(message_is_method_call) \
    X(message_is_signal) \
    X(message_sensitive) \
    X(send)

typedef struct csystemd {
#define CSYSTEMD_FIELD(name) __typeof__(&sd_bus_##name) name;
    CSYSTEMD_FUNCTIONS(CSYSTEMD_FIELD)
#undef CSYSTEMD_FIELD
} csystemd;

// 1 when every function was found.
static inline int csystemd_load(csystemd *table) {
    void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
#define CSYSTEMD_FIND(name) \
    *(void **)&table->name = dlsym(library, "sd_bus_" #name); \
    if (!table->name) return 0;
    CSYSTEMD_FUNCTIONS(CSYSTEMD_FIND)
#undef CSYSTEMD_FIND
    return 1;
}
