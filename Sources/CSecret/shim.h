// What is used of libsecret and GLib, declared here: their headers lie in folders that only pkg-config knows, and
// pkg-config would link them. The library, and GLib with it, is loaded when a keyring is asked, so that a command that asks
// none does not pay for it, and one on a machine without it starts. Declarations as in libsecret 0.20 and GLib 2.
#pragma once
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

typedef struct csecret_error {
    uint32_t domain;
    int code;
    char *message;
} csecret_error;

typedef struct csecret_list {
    void *data;
    struct csecret_list *next;
    struct csecret_list *prev;
} csecret_list;

typedef struct csecret {
    void *(*secret_schema_newv)(const char *name, int flags, void *types);
    size_t (*secret_service_get_type)(void);
    void *(*secret_service_open_sync)(
        size_t type, const char *bus_name, int flags, void *cancellable, csecret_error **error);
    void *(*secret_collection_for_alias_sync)(
        void *service, const char *alias, int flags, void *cancellable, csecret_error **error);
    int (*secret_collection_get_locked)(void *collection);
    csecret_list *(*secret_service_get_collections)(void *service);
    int (*secret_service_store_sync)(
        void *service, void *schema, void *attributes, const char *collection, const char *label, void *value,
        void *cancellable, csecret_error **error);
    void *(*secret_service_lookup_sync)(
        void *service, void *schema, void *attributes, void *cancellable, csecret_error **error);
    int (*secret_service_clear_sync)(
        void *service, void *schema, void *attributes, void *cancellable, csecret_error **error);
    void *(*secret_value_new)(const char *secret, ptrdiff_t length, const char *type);
    const char *(*secret_value_get)(void *value, size_t *length);
    void (*secret_value_unref)(void *value);
    uint32_t (*secret_error_get_quark)(void);
    uint32_t (*g_dbus_error_quark)(void);
    uint32_t (*g_io_error_quark)(void);
    void *(*g_hash_table_new)(void *hash, void *equal);
    int (*g_hash_table_insert)(void *table, void *key, void *value);
    void (*g_hash_table_unref)(void *table);
    void (*g_object_unref)(void *object);
    void (*g_error_free)(csecret_error *error);
    void *(*g_cancellable_new)(void);
    void (*g_cancellable_cancel)(void *cancellable);
    void (*g_list_free_full)(csecret_list *list, void (*free)(void *));
    const char *(*g_dbus_proxy_get_object_path)(void *proxy);
    char *(*g_dbus_proxy_get_name_owner)(void *proxy);
    void *(*g_dbus_proxy_get_connection)(void *proxy);
    void *(*g_dbus_connection_call_sync)(
        void *connection, const char *name, const char *path, const char *interface, const char *method,
        void *parameters, void *reply_type, int flags, int timeout, void *cancellable, csecret_error **error);
    void *(*g_variant_new_string)(const char *text);
    void *(*g_variant_new_tuple)(void *const *children, size_t count);
    void *(*g_variant_get_child_value)(void *value, size_t index);
    uint32_t (*g_variant_get_uint32)(void *value);
    const char *(*g_variant_get_type_string)(void *value);
    void (*g_variant_unref)(void *value);
    void (*g_free)(void *memory);
    void *g_str_hash;
    void *g_str_equal;
} csecret;

#define CSECRET_FIND(name) \
    *(void **)&table->name = dlsym(library, #name); \
    if (!table->name) return 0;

// 1 when every function was found; what GLib and GIO have is found through the library that needs them.
static inline int csecret_load(csecret *table) {
    void *library = dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    CSECRET_FIND(secret_schema_newv)
    CSECRET_FIND(secret_service_get_type)
    CSECRET_FIND(secret_service_open_sync)
    CSECRET_FIND(secret_collection_for_alias_sync)
    CSECRET_FIND(secret_collection_get_locked)
    CSECRET_FIND(secret_service_get_collections)
    CSECRET_FIND(secret_service_store_sync)
    CSECRET_FIND(secret_service_lookup_sync)
    CSECRET_FIND(secret_service_clear_sync)
    CSECRET_FIND(secret_value_new)
    CSECRET_FIND(secret_value_get)
    CSECRET_FIND(secret_value_unref)
    CSECRET_FIND(secret_error_get_quark)
    CSECRET_FIND(g_dbus_error_quark)
    CSECRET_FIND(g_io_error_quark)
    CSECRET_FIND(g_hash_table_new)
    CSECRET_FIND(g_hash_table_insert)
    CSECRET_FIND(g_hash_table_unref)
    CSECRET_FIND(g_object_unref)
    CSECRET_FIND(g_error_free)
    CSECRET_FIND(g_cancellable_new)
    CSECRET_FIND(g_cancellable_cancel)
    CSECRET_FIND(g_list_free_full)
    CSECRET_FIND(g_dbus_proxy_get_object_path)
    CSECRET_FIND(g_dbus_proxy_get_name_owner)
    CSECRET_FIND(g_dbus_proxy_get_connection)
    CSECRET_FIND(g_dbus_connection_call_sync)
    CSECRET_FIND(g_variant_new_string)
    CSECRET_FIND(g_variant_new_tuple)
    CSECRET_FIND(g_variant_get_child_value)
    CSECRET_FIND(g_variant_get_uint32)
    CSECRET_FIND(g_variant_get_type_string)
    CSECRET_FIND(g_variant_unref)
    CSECRET_FIND(g_free)
    CSECRET_FIND(g_str_hash)
    CSECRET_FIND(g_str_equal)
    return 1;
}
