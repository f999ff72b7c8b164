// libmicrohttpd with its variadic calls and closed enumerations behind plain functions.
#pragma once
#include <microhttpd.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Who answers. It outlives the daemon.
struct cmicrohttpd_owner {
    void *context;
    // 0 closes the connection. The slot is the request's own.
    int (*handle)(void *context, struct MHD_Connection *connection, const char *method, const char *version,
                  const char *data, size_t *count, void **slot);
    // The target of a request as it came, before anything else of it is known.
    void (*target)(void *context, struct MHD_Connection *connection, const char *target);
    void (*completed)(void *context, void **slot);
    void (*opened)(void *context, struct MHD_Connection *connection, void **slot);
    void (*closed)(void *context, void **slot);
};

static inline enum MHD_Result cmicrohttpd_handle(
    void *owner, struct MHD_Connection *connection, const char *path, const char *method, const char *version,
    const char *data, size_t *count, void **slot) {
    struct cmicrohttpd_owner *to = (struct cmicrohttpd_owner *)owner;
    (void)path;
    return to->handle(to->context, connection, method, version, data, count, slot) ? MHD_YES : MHD_NO;
}

static inline void *cmicrohttpd_target(void *owner, const char *target, struct MHD_Connection *connection) {
    struct cmicrohttpd_owner *to = (struct cmicrohttpd_owner *)owner;
    to->target(to->context, connection, target);
    return NULL;  // the request's slot is empty until it is handled
}

static inline void cmicrohttpd_completed(
    void *owner, struct MHD_Connection *connection, void **slot, enum MHD_RequestTerminationCode reason) {
    struct cmicrohttpd_owner *to = (struct cmicrohttpd_owner *)owner;
    (void)connection, (void)reason;
    to->completed(to->context, slot);
}

static inline void cmicrohttpd_connection(
    void *owner, struct MHD_Connection *connection, void **slot, enum MHD_ConnectionNotificationCode code) {
    struct cmicrohttpd_owner *to = (struct cmicrohttpd_owner *)owner;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) to->opened(to->context, connection, slot);
    else to->closed(to->context, slot);
}

// TLS 1.2 and 1.3 with forward secrecy and authenticated encryption, in our order of preference.
#define CMICROHTTPD_TLS \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:+AES-256-GCM:" \
    "+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD:-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1:%SERVER_PRECEDENCE"

// A daemon of one thread that is given its connections. Key and certificate are PEM texts, or both null. Strict is 1
// where the library's own look at heads counts, else 0.
static inline struct MHD_Daemon *cmicrohttpd_start(
    struct cmicrohttpd_owner *owner, unsigned int connections, unsigned int timeout, size_t memory, int strict,
    const char *key, const char *certificate) {
    unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC |
                         MHD_ALLOW_SUSPEND_RESUME | (key ? MHD_USE_TLS : 0);
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)key},
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)CMICROHTTPD_TLS},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(
        flags, 0, NULL, NULL, &cmicrohttpd_handle, owner,
        MHD_OPTION_STRICT_FOR_CLIENT, strict,
        MHD_OPTION_URI_LOG_CALLBACK, &cmicrohttpd_target, owner,
        MHD_OPTION_NOTIFY_COMPLETED, &cmicrohttpd_completed, owner,
        MHD_OPTION_NOTIFY_CONNECTION, &cmicrohttpd_connection, owner,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_TIMEOUT, timeout,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
        MHD_OPTION_ARRAY, key ? tls : none,
        MHD_OPTION_END);
}

static inline int cmicrohttpd_add(
    struct MHD_Daemon *daemon, int client, const void *address, unsigned int length) {
    return MHD_add_connection(daemon, client, (const struct sockaddr *)address, length) == MHD_YES;
}

// The bytes of the client's address: 4, 16, or none.
static inline int cmicrohttpd_address(struct MHD_Connection *connection, uint8_t bytes[16]) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!info || !info->client_addr) return 0;
    if (info->client_addr->sa_family == AF_INET) {
        memcpy(bytes, &((const struct sockaddr_in *)info->client_addr)->sin_addr, 4);
        return 4;
    }
    if (info->client_addr->sa_family == AF_INET6) {
        memcpy(bytes, &((const struct sockaddr_in6 *)info->client_addr)->sin6_addr, 16);
        return 16;
    }
    return 0;
}

static inline int cmicrohttpd_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline void *cmicrohttpd_slot(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static inline const char *cmicrohttpd_header(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

// Each header in the order in which they came.
struct cmicrohttpd_lines {
    void *context;
    void (*take)(void *context, const char *name, size_t name_size, const char *value, size_t value_size);
};

static inline enum MHD_Result cmicrohttpd_line(
    void *lines, enum MHD_ValueKind kind, const char *name, size_t name_size, const char *value, size_t value_size) {
    const struct cmicrohttpd_lines *to = (const struct cmicrohttpd_lines *)lines;
    (void)kind;
    to->take(to->context, name, name_size, value, value_size);
    return MHD_YES;
}

static inline void cmicrohttpd_read(
    struct MHD_Connection *connection, void *context,
    void (*take)(void *context, const char *name, size_t name_size, const char *value, size_t value_size)) {
    struct cmicrohttpd_lines lines = {context, take};
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, &cmicrohttpd_line, &lines);
}

// Bytes from the method to the end of the empty line.
static inline size_t cmicrohttpd_head_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

static inline int cmicrohttpd_reply(
    struct MHD_Connection *connection, const char *id, const char *parent, unsigned int status, const char *type,
    const void *body, size_t count,
    int closes, unsigned int retry, const char *allowed) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(count, (void *)body, MHD_RESPMEM_MUST_COPY);
    if (!response) return 0;
    char seconds[16];
    snprintf(seconds, sizeof seconds, "%u", retry);
    int done = MHD_add_response_header(response, "Content-Type", type) == MHD_YES &&
               MHD_add_response_header(response, "Cache-Control", "no-store") == MHD_YES &&
               MHD_add_response_header(response, "X-Request-Id", id) == MHD_YES &&
               (!parent || MHD_add_response_header(response, "traceparent", parent) == MHD_YES) &&
               (!retry || MHD_add_response_header(response, "Retry-After", seconds) == MHD_YES) &&
               (!allowed || MHD_add_response_header(response, "Allow", allowed) == MHD_YES) &&
               (!closes || MHD_add_response_header(response, "Connection", "close") == MHD_YES) &&
               MHD_queue_response(connection, status, response) == MHD_YES;
    MHD_destroy_response(response);
    return done;
}
