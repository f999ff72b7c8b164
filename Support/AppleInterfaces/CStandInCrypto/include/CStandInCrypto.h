// What the stand-in for CryptoKit computes, by libcrypto. Every function returns 1 for success.
#pragma once
#include <stddef.h>
#include <stdint.h>

int standin_sha256(const uint8_t *bytes, size_t count, uint8_t digest[32]);
int standin_digest(const char *name, const uint8_t *bytes, size_t count, uint8_t *digest);
int standin_hmac(const char *name, const uint8_t *key, size_t key_count, const uint8_t *bytes, size_t count,
                 uint8_t *tag);

int standin_gcm_seal(const uint8_t key[32], const uint8_t *nonce, size_t nonce_count, const uint8_t *aad,
                     size_t aad_count, const uint8_t *text, size_t count, uint8_t *output, uint8_t tag[16]);
// 0 when the tag does not match.
int standin_gcm_open(const uint8_t key[32], const uint8_t *nonce, size_t nonce_count, const uint8_t *aad,
                     size_t aad_count, const uint8_t *box, size_t count, const uint8_t tag[16], uint8_t *output);

// Points are 04, x, y.
int standin_p256_generate(uint8_t scalar[32]);
int standin_p256_public(const uint8_t scalar[32], uint8_t point[65]);
int standin_p256_decompress(const uint8_t *encoded, size_t count, uint8_t point[65]);
int standin_p256_sign(const uint8_t scalar[32], const uint8_t digest[32], uint8_t signature[64]);
int standin_p256_verify(const uint8_t point[65], const uint8_t digest[32], const uint8_t signature[64]);
int standin_p256_agree(const uint8_t scalar[32], const uint8_t point[65], uint8_t shared[32]);
