// A file encrypted piece by piece with OpenSSL's AES-256-GCM, and nothing around it.
#define _GNU_SOURCE
#include "raw_loops.h"
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { tag_size = 16 };

static const uint8_t key[32] = {1, 2, 3};

int raw_seal_file(const char *from, const char *to, size_t chunk) {
    uint8_t *plain = malloc(chunk), *sealed = malloc(chunk + tag_size), nonce[12] = {0};
    int source = open(from, O_RDONLY | O_CLOEXEC), target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    int written;
    int good = plain && sealed && source >= 0 && target >= 0 && cipher &&
        EVP_EncryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, NULL) == 1;
    for (uint64_t index = 0; good; index++) {
        ssize_t count = read(source, plain, chunk);
        if (count <= 0) {
            good = count == 0;
            break;
        }
        memcpy(nonce, &index, sizeof index);
        good = EVP_EncryptInit_ex(cipher, NULL, NULL, NULL, nonce) == 1 &&
            EVP_CipherUpdate(cipher, sealed, &written, plain, (int)count) == 1 &&
            EVP_EncryptFinal_ex(cipher, sealed + count, &written) == 1 &&
            EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, tag_size, sealed + count) == 1 &&
            write(target, sealed, (size_t)count + tag_size) == count + tag_size;
    }
    good = good && fdatasync(target) == 0;
    EVP_CIPHER_CTX_free(cipher);
    if (source >= 0) close(source);
    if (target >= 0) close(target);
    free(plain);
    free(sealed);
    return good ? 0 : -1;
}

int raw_open_file(const char *from, size_t chunk, uint64_t *sum) {
    uint8_t *plain = malloc(chunk), *sealed = malloc(chunk + tag_size), nonce[12] = {0};
    int source = open(from, O_RDONLY | O_CLOEXEC), written;
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    int good = plain && sealed && source >= 0 && cipher &&
        EVP_DecryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, NULL) == 1;
    for (uint64_t index = 0; good; index++) {
        ssize_t count = read(source, sealed, chunk + tag_size) - tag_size;
        if (count <= 0) {
            good = count == -tag_size;
            break;
        }
        memcpy(nonce, &index, sizeof index);
        good = EVP_DecryptInit_ex(cipher, NULL, NULL, NULL, nonce) == 1 &&
            EVP_CipherUpdate(cipher, plain, &written, sealed, (int)count) == 1 &&
            EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, tag_size, sealed + count) == 1 &&
            EVP_DecryptFinal_ex(cipher, plain + count, &written) == 1;
        *sum += plain[0];
    }
    EVP_CIPHER_CTX_free(cipher);
    if (source >= 0) close(source);
    free(plain);
    free(sealed);
    return good ? 0 : -1;
}
