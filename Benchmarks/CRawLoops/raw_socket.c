// A client of a Unix socket that does nothing but what the socket needs: what a program's own client is compared with.
#include "raw_loops.h"
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int all(int descriptor, unsigned char *bytes, size_t count) {
    while (count > 0) {
        ssize_t got = read(descriptor, bytes, count);
        if (got <= 0) return 0;
        bytes += got;
        count -= (size_t)got;
    }
    return 1;
}

int raw_socket_open(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return -1;
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    close(descriptor);
    return -1;
}

// The agent's frames: 4 bytes of the body's size, little-endian, version, kind; until a frame of this kind has come.
int raw_socket_frames(int descriptor, const unsigned char *request, size_t size, unsigned char last) {
    static unsigned char body[65536];
    if (write(descriptor, request, size) != (ssize_t)size) return 0;
    unsigned char head[6];
    do {
        if (!all(descriptor, head, sizeof head)) return 0;
        size_t count = head[0] | head[1] << 8 | head[2] << 16 | (size_t)head[3] << 24;
        if (count > sizeof body || !all(descriptor, body, count)) return 0;
    } while (head[5] != last);
    return 1;
}

// A message of ssh-agent's protocol: 4 bytes of its size, big-endian; the answer's first byte, -1 where there is none.
int raw_socket_ssh(int descriptor, const unsigned char *message, size_t size) {
    static unsigned char body[65536];
    if (write(descriptor, message, size) != (ssize_t)size) return -1;
    unsigned char head[4];
    if (!all(descriptor, head, sizeof head)) return -1;
    size_t count = (size_t)head[0] << 24 | head[1] << 16 | head[2] << 8 | head[3];
    if (count == 0 || count > sizeof body || !all(descriptor, body, count)) return -1;
    return body[0];
}
