#pragma once
#include <curl/curl.h>
#include <dlfcn.h>
#include <stddef.h>

// The library is not linked but loaded at the first request, so that programs which speak HTTP now and then do not pay
// for it at each start. What is used of it, by name; `curl_easy_setopt` and `curl_easy_getinfo` take variable arguments,
// which do not import.
typedef struct {
    CURLcode (*global_init)(long);
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
    CURLcode (*easy_perform)(CURL *);
    CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
    void (*easy_cleanup)(CURL *);
    const char *(*easy_strerror)(CURLcode);
    struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
    void (*slist_free_all)(struct curl_slist *);
} ccurl_library;

/// Loads the library and finds all of that; 0 when something is not there.
static inline int ccurl_load(ccurl_library *library) {
#if defined(__APPLE__)
    void *handle = dlopen("/usr/lib/libcurl.4.dylib", RTLD_NOW | RTLD_LOCAL);
#else
    void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
#endif
    if (!handle) return 0;
    *(void **)&library->global_init = dlsym(handle, "curl_global_init");
    *(void **)&library->easy_init = dlsym(handle, "curl_easy_init");
    *(void **)&library->easy_setopt = dlsym(handle, "curl_easy_setopt");
    *(void **)&library->easy_perform = dlsym(handle, "curl_easy_perform");
    *(void **)&library->easy_getinfo = dlsym(handle, "curl_easy_getinfo");
    *(void **)&library->easy_cleanup = dlsym(handle, "curl_easy_cleanup");
    *(void **)&library->easy_strerror = dlsym(handle, "curl_easy_strerror");
    *(void **)&library->slist_append = dlsym(handle, "curl_slist_append");
    *(void **)&library->slist_free_all = dlsym(handle, "curl_slist_free_all");
    return library->global_init && library->easy_init && library->easy_setopt && library->easy_perform
        && library->easy_getinfo && library->easy_cleanup && library->easy_strerror && library->slist_append
        && library->slist_free_all && library->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

static inline CURLcode ccurl_set_number(const ccurl_library *library, CURL *handle, CURLoption option, long value) {
    return library->easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_text(const ccurl_library *library, CURL *handle, CURLoption option, const char *text) {
    return library->easy_setopt(handle, option, text);
}

static inline CURLcode ccurl_set_pointer(const ccurl_library *library, CURL *handle, CURLoption option, void *value) {
    return library->easy_setopt(handle, option, value);
}

typedef size_t (*ccurl_write)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode ccurl_set_write(
    const ccurl_library *library, CURL *handle, ccurl_write write, void *context) {
    CURLcode status = library->easy_setopt(handle, CURLOPT_WRITEFUNCTION, write);
    return status == CURLE_OK ? library->easy_setopt(handle, CURLOPT_WRITEDATA, context) : status;
}

/// Takes each line of each head, those of answers in between too.
static inline CURLcode ccurl_set_head(
    const ccurl_library *library, CURL *handle, ccurl_write write, void *context) {
    CURLcode status = library->easy_setopt(handle, CURLOPT_HEADERFUNCTION, write);
    return status == CURLE_OK ? library->easy_setopt(handle, CURLOPT_HEADERDATA, context) : status;
}

static inline CURLcode ccurl_set_body(
    const ccurl_library *library, CURL *handle, const void *bytes, size_t count) {
    CURLcode status = library->easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    return status == CURLE_OK ? library->easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, bytes) : status;
}

/// The header's value, which lives as long as the handle; null where there is none.
static inline CURLcode ccurl_content_type(const ccurl_library *library, CURL *handle, const char **type) {
    return library->easy_getinfo(handle, CURLINFO_CONTENT_TYPE, type);
}

static inline CURLcode ccurl_response_code(const ccurl_library *library, CURL *handle, long *code) {
    return library->easy_getinfo(handle, CURLINFO_RESPONSE_CODE, code);
}
