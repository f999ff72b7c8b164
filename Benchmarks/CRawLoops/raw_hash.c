// Hashing and base64 by OpenSSL alone.
#include "raw_loops.h"
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <string.h>
#include <time.h>

static double thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double raw_calibrate(void) {
    static const uint8_t bytes[1 << 16];
    uint8_t digest[SHA256_DIGEST_LENGTH];
    double start = thread_seconds();
    for (int round = 0; round < 1024; round++) SHA256(bytes, sizeof bytes, digest);
    return thread_seconds() - start;
}

const char *raw_openssl_version(void) { return OpenSSL_version(OPENSSL_VERSION); }

int raw_digest(int kind, uint8_t *bytes, size_t size, int times) {
    uint8_t digest[EVP_MAX_MD_SIZE];
    if (kind == raw_sha256) {
        for (int round = 0; round < times; round++) {
            if (!SHA256(bytes, size, digest)) return -1;
            bytes[0] = digest[0];
        }
        return 0;
    }
    EVP_MD *blake2b = EVP_MD_fetch(NULL, "BLAKE2B-512", NULL);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int good = blake2b && context;
    for (int round = 0; round < times && good; round++) {
        good = EVP_DigestInit_ex2(context, blake2b, NULL) == 1 && EVP_DigestUpdate(context, bytes, size) == 1 &&
            EVP_DigestFinal_ex(context, digest, NULL) == 1;
        bytes[0] = digest[0];
    }
    EVP_MD_CTX_free(context);
    EVP_MD_free(blake2b);
    return good ? 0 : -1;
}

uint64_t raw_base64_encode(uint8_t bytes[64], int times) {
    uint8_t text[89];
    uint64_t sum = 0;
    for (int round = 0; round < times; round++) {
        EVP_EncodeBlock(text, bytes, 64);
        sum += text[87];
        bytes[40] = (uint8_t)sum;
    }
    return sum;
}

uint64_t raw_base64_decode(uint8_t text[88], int times) {
    uint8_t bytes[66];
    uint64_t sum = 0;
    for (int round = 0; round < times; round++) {
        if (EVP_DecodeBlock(bytes, text, 88) < 0) return 0;
        sum += bytes[63];
        text[87] = sum & 1 ? 'V' : 'U';
    }
    return sum;
}
