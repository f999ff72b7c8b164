#pragma once
#include <hiredis/hiredis.h>

// `struct timeval` by parts, and the reply through a typed pointer.
static inline redisContext *chiredis_connect(const char *host, int port, const char *path, int seconds) {
    struct timeval limit = {seconds, 0};
    redisContext *context =
        path ? redisConnectUnixWithTimeout(path, limit) : redisConnectWithTimeout(host, port, limit);
    if (context && !context->err && redisSetTimeout(context, limit) != REDIS_OK) {
        redisFree(context);
        return NULL;
    }
    return context;
}

static inline redisReply *chiredis_command(
    redisContext *context, int count, const char **words, const size_t *sizes) {
    return (redisReply *)redisCommandArgv(context, count, words, sizes);
}
