// What is done to bytes at the least: looked at, copied, inflated, allocated, searched, read from a file, sent over a socket.
#define _GNU_SOURCE
#include "raw_loops.h"
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zlib.h>

uint64_t raw_message(const uint8_t *bytes, size_t size, int times) {
    uint64_t marks = 0;
    for (int round = 0; round < times; round++) {
        uint8_t *copy = malloc(size);
        if (!copy) return 0;
        memcpy(copy, bytes, size);
        const uint8_t *place = copy, *end = copy + size;
        while ((place = memchr(place, '"', (size_t)(end - place)))) {
            marks++;
            place++;
        }
        free(copy);
    }
    return marks;
}

long raw_inflate(const uint8_t *text, size_t size, size_t most) {
    uint8_t *member = malloc(size / 4 * 3 + 3), out[4096];
    if (!member) return -1;
    int count = EVP_DecodeBlock(member, text, (int)size);
    z_stream stream = {.next_in = member, .avail_in = count > 0 ? (unsigned)count : 0};
    long came = -1;
    if (count > 0 && inflateInit2(&stream, 31) == Z_OK) {
        came = 0;
        int status = Z_OK;
        while (status == Z_OK && (size_t)came <= most) {
            stream.next_out = out;
            stream.avail_out = sizeof out;
            status = inflate(&stream, Z_NO_FLUSH);
            came += (long)(sizeof out - stream.avail_out);
        }
        inflateEnd(&stream);
    }
    free(member);
    return came;
}

uint64_t raw_allocate(int times) {
    uint64_t sum = 0;
    for (int round = 0; round < times; round++) {
        volatile uint8_t *bytes = malloc(64);
        if (!bytes) return 0;
        memset((void *)bytes, 0, 64);
        sum += bytes[0];
        explicit_bzero((void *)bytes, 64);
        free((void *)bytes);
    }
    return sum;
}

int raw_read_through(const char *path, uint64_t *sum) {
    size_t size = 1 << 20;
    uint8_t *bytes = malloc(size);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = bytes && file >= 0 ? 1 : -1;
    while (count > 0) {
        count = read(file, bytes, size);
        for (ssize_t place = 0; place < count; place += 4096) *sum += bytes[place];
    }
    if (file >= 0) close(file);
    free(bytes);
    return count < 0 ? -1 : 0;
}

int raw_echo(const char *path, size_t size) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return -1;
    strcpy(address.sun_path, path);
    int peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    uint8_t bytes[4096] = {0};
    int good = peer >= 0 && size <= sizeof bytes && connect(peer, (void *)&address, sizeof address) == 0 &&
        send(peer, bytes, size, MSG_NOSIGNAL) == (ssize_t)size && recv(peer, bytes, size, MSG_WAITALL) == (ssize_t)size;
    if (peer >= 0) close(peer);
    return good ? 0 : -1;
}

uint64_t raw_find(const char *text, size_t size, const char *words) {
    uint64_t found = 0;
    for (; *words; words += strlen(words) + 1) {
        const char *place = text, *end = text + size;
        while ((place = memmem(place, (size_t)(end - place), words, strlen(words)))) {
            found++;
            place++;
        }
    }
    return found;
}
