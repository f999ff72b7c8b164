#pragma once
#include <dlfcn.h>
#include <qrencode.h>

// The library is not linked but loaded when a code is drawn: no other command needs it.
typedef struct {
    QRcode *(*encode)(int size, const unsigned char *bytes, int version, QRecLevel level);
    void (*release)(QRcode *code);
} cqrencode_library;

/// Loads the library; 0 when it is not there.
static inline int cqrencode_load(cqrencode_library *library) {
#if defined(__APPLE__)
    void *handle = dlopen("libqrencode.4.dylib", RTLD_NOW | RTLD_LOCAL);
#else
    void *handle = dlopen("libqrencode.so.4", RTLD_NOW | RTLD_LOCAL);
#endif
    if (!handle) return 0;
    *(void **)&library->encode = dlsym(handle, "QRcode_encodeData");
    *(void **)&library->release = dlsym(handle, "QRcode_free");
    return library->encode && library->release;
}
