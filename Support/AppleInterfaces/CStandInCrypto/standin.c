#define OPENSSL_SUPPRESS_DEPRECATED
#include "CStandInCrypto.h"

#include <openssl/ec.h>
#include <openssl/ecdh.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/obj_mac.h>

int standin_sha256(const uint8_t *bytes, size_t count, uint8_t digest[32]) {
    return EVP_Digest(bytes, count, digest, NULL, EVP_sha256(), NULL);
}

int standin_digest(const char *name, const uint8_t *bytes, size_t count, uint8_t *digest) {
    return EVP_Digest(bytes, count, digest, NULL, EVP_get_digestbyname(name), NULL);
}

int standin_hmac(const char *name, const uint8_t *key, size_t key_count, const uint8_t *bytes, size_t count,
                 uint8_t *tag) {
    static const uint8_t none[1];
    unsigned written = 0;
    return HMAC(EVP_get_digestbyname(name), key ? key : none, (int)key_count, bytes ? bytes : none, count, tag, &written) != NULL;
}

int standin_gcm_seal(const uint8_t key[32], const uint8_t *nonce, size_t nonce_count, const uint8_t *aad,
                     size_t aad_count, const uint8_t *text, size_t count, uint8_t *output, uint8_t tag[16]) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int written = 0;
    int good = context && EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, NULL, NULL) == 1 &&
               EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, (int)nonce_count, NULL) == 1 &&
               EVP_EncryptInit_ex(context, NULL, NULL, key, nonce) == 1;
    if (good && aad_count) good = EVP_EncryptUpdate(context, NULL, &written, aad, (int)aad_count) == 1;
    if (good && count) good = EVP_EncryptUpdate(context, output, &written, text, (int)count) == 1;
    good = good && EVP_EncryptFinal_ex(context, tag, &written) == 1 &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1;
    EVP_CIPHER_CTX_free(context);
    return good;
}

int standin_gcm_open(const uint8_t key[32], const uint8_t *nonce, size_t nonce_count, const uint8_t *aad,
                     size_t aad_count, const uint8_t *box, size_t count, const uint8_t tag[16], uint8_t *output) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    uint8_t nothing[16];
    int written = 0;
    int good = context && EVP_DecryptInit_ex(context, EVP_aes_256_gcm(), NULL, NULL, NULL) == 1 &&
               EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, (int)nonce_count, NULL) == 1 &&
               EVP_DecryptInit_ex(context, NULL, NULL, key, nonce) == 1;
    if (good && aad_count) good = EVP_DecryptUpdate(context, NULL, &written, aad, (int)aad_count) == 1;
    if (good && count) good = EVP_DecryptUpdate(context, output, &written, box, (int)count) == 1;
    good = good && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, (void *)tag) == 1 &&
           EVP_DecryptFinal_ex(context, nothing, &written) == 1;
    EVP_CIPHER_CTX_free(context);
    return good;
}

static EC_KEY *private_key(const uint8_t scalar[32]) {
    EC_KEY *key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
    BIGNUM *number = BN_bin2bn(scalar, 32, NULL);
    EC_POINT *point = key ? EC_POINT_new(EC_KEY_get0_group(key)) : NULL;
    int good = key && number && point && !BN_is_zero(number) &&
               BN_cmp(number, EC_GROUP_get0_order(EC_KEY_get0_group(key))) < 0 &&
               EC_POINT_mul(EC_KEY_get0_group(key), point, number, NULL, NULL, NULL) == 1 &&
               EC_KEY_set_private_key(key, number) == 1 && EC_KEY_set_public_key(key, point) == 1;
    BN_clear_free(number);
    EC_POINT_free(point);
    if (good) return key;
    EC_KEY_free(key);
    return NULL;
}

static EC_KEY *public_key(const uint8_t *encoded, size_t count) {
    EC_KEY *key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
    if (key && EC_KEY_oct2key(key, encoded, count, NULL) == 1) return key;
    EC_KEY_free(key);
    return NULL;
}

static int encode(const EC_KEY *key, uint8_t point[65]) {
    return EC_POINT_point2oct(EC_KEY_get0_group(key), EC_KEY_get0_public_key(key), POINT_CONVERSION_UNCOMPRESSED, point,
                              65, NULL) == 65;
}

int standin_p256_generate(uint8_t scalar[32]) {
    EC_KEY *key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
    int good = key && EC_KEY_generate_key(key) == 1 && BN_bn2binpad(EC_KEY_get0_private_key(key), scalar, 32) == 32;
    EC_KEY_free(key);
    return good;
}

int standin_p256_public(const uint8_t scalar[32], uint8_t point[65]) {
    EC_KEY *key = private_key(scalar);
    int good = key && encode(key, point);
    EC_KEY_free(key);
    return good;
}

int standin_p256_decompress(const uint8_t *encoded, size_t count, uint8_t point[65]) {
    EC_KEY *key = public_key(encoded, count);
    int good = key && encode(key, point);
    EC_KEY_free(key);
    return good;
}

int standin_p256_sign(const uint8_t scalar[32], const uint8_t digest[32], uint8_t signature[64]) {
    EC_KEY *key = private_key(scalar);
    ECDSA_SIG *made = key ? ECDSA_do_sign(digest, 32, key) : NULL;
    int good = made && BN_bn2binpad(ECDSA_SIG_get0_r(made), signature, 32) == 32 &&
               BN_bn2binpad(ECDSA_SIG_get0_s(made), signature + 32, 32) == 32;
    ECDSA_SIG_free(made);
    EC_KEY_free(key);
    return good;
}

int standin_p256_verify(const uint8_t point[65], const uint8_t digest[32], const uint8_t signature[64]) {
    EC_KEY *key = public_key(point, 65);
    ECDSA_SIG *given = ECDSA_SIG_new();
    int good = key && given &&
               ECDSA_SIG_set0(given, BN_bin2bn(signature, 32, NULL), BN_bin2bn(signature + 32, 32, NULL)) == 1 &&
               ECDSA_do_verify(digest, 32, given, key) == 1;
    ECDSA_SIG_free(given);
    EC_KEY_free(key);
    return good;
}

int standin_p256_agree(const uint8_t scalar[32], const uint8_t point[65], uint8_t shared[32]) {
    EC_KEY *key = private_key(scalar);
    EC_KEY *peer = public_key(point, 65);
    int good = key && peer && ECDH_compute_key(shared, 32, EC_KEY_get0_public_key(peer), key, NULL) == 32;
    EC_KEY_free(key);
    EC_KEY_free(peer);
    return good;
}
