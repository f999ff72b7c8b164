// What the signatures of a protocol operation cost with OpenSSL alone.
#include "raw_loops.h"
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <string.h>
#include <time.h>

static double thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double raw_p256(int loops, int imports, int verifies, int signs) {
    unsigned char message[600], signature[80], point[33];
    size_t size = sizeof signature, point_size = 0;
    double seconds = -1;
    memset(message, 'x', sizeof message);
    EVP_MD *sha256 = EVP_MD_fetch(NULL, "SHA2-256", NULL);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    EVP_PKEY *template = EVP_EC_gen("P-256");
    EVP_PKEY_set_utf8_string_param(key, "point-format", "compressed");
    unsigned char digest[32];
    EVP_Digest(message, sizeof message, digest, NULL, sha256, NULL);
    EVP_PKEY_CTX *signer = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    EVP_PKEY_CTX *verifier = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    if (EVP_PKEY_sign_init(signer) != 1 || EVP_PKEY_sign(signer, signature, &size, digest, 32) != 1 ||
        EVP_PKEY_verify_init(verifier) != 1 ||
        EVP_PKEY_get_octet_string_param(key, "pub", point, sizeof point, &point_size) != 1)
        goto done;
    double start = thread_seconds();
    for (int loop = 0; loop < loops; loop++) {
        for (int i = 0; i < imports; i++) {
            EVP_PKEY *imported = EVP_PKEY_new();
            if (EVP_PKEY_copy_parameters(imported, template) != 1 ||
                EVP_PKEY_set1_encoded_public_key(imported, point, point_size) != 1)
                goto done;
            EVP_PKEY_free(imported);
        }
        for (int i = 0; i < verifies; i++) {
            EVP_Digest(message, sizeof message, digest, NULL, sha256, NULL);
            if (EVP_PKEY_verify(verifier, signature, size, digest, 32) != 1) goto done;
        }
        for (int i = 0; i < signs; i++) {
            unsigned char made[80];
            size_t count = sizeof made;
            EVP_Digest(message, sizeof message, digest, NULL, sha256, NULL);
            if (EVP_PKEY_sign(signer, made, &count, digest, 32) != 1) goto done;
        }
    }
    seconds = (thread_seconds() - start) / loops;
done:
    EVP_PKEY_CTX_free(signer);
    EVP_PKEY_CTX_free(verifier);
    EVP_PKEY_free(key);
    EVP_PKEY_free(template);
    EVP_MD_free(sha256);
    return seconds;
}

double raw_p256_agree(int loops) {
    unsigned char point[33], secret[32];
    size_t point_size = 0;
    double seconds = -1;
    EVP_PKEY *own = EVP_EC_gen("P-256"), *other = EVP_EC_gen("P-256");
    EVP_PKEY_set_utf8_string_param(other, "point-format", "compressed");
    if (EVP_PKEY_get_octet_string_param(other, "pub", point, sizeof point, &point_size) != 1) goto done;
    double start = thread_seconds();
    for (int loop = 0; loop < loops; loop++) {
        size_t size = sizeof secret;
        EVP_PKEY *peer = EVP_PKEY_new();
        EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, own, NULL);
        int good = EVP_PKEY_copy_parameters(peer, own) == 1 &&
            EVP_PKEY_set1_encoded_public_key(peer, point, point_size) == 1 && EVP_PKEY_derive_init(context) == 1 &&
            EVP_PKEY_derive_set_peer_ex(context, peer, 0) == 1 && EVP_PKEY_derive(context, secret, &size) == 1;
        EVP_PKEY_CTX_free(context);
        EVP_PKEY_free(peer);
        if (!good) goto done;
    }
    seconds = (thread_seconds() - start) / loops;
done:
    EVP_PKEY_free(own);
    EVP_PKEY_free(other);
    return seconds;
}
