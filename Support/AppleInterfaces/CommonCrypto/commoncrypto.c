#include "CommonCrypto.h"

#include <openssl/evp.h>
#include <stdlib.h>

struct _CCCryptor {
    EVP_CIPHER_CTX *context;
    CCOperation op;
};

// AES with keys of 32 bytes alone.
CCCryptorStatus CCCryptorCreate(CCOperation op, CCAlgorithm alg, CCOptions options, const void *key, size_t keyLength,
                                const void *iv, CCCryptorRef *cryptorRef) {
    static const uint8_t zeros[16];
    const EVP_CIPHER *cipher = options & kCCOptionECBMode ? EVP_aes_256_ecb() : EVP_aes_256_cbc();
    if (!key || !cryptorRef || keyLength != 32 || alg != kCCAlgorithmAES || op > kCCDecrypt) return kCCParamError;
    struct _CCCryptor *made = calloc(1, sizeof *made);
    made->context = EVP_CIPHER_CTX_new();
    made->op = op;
    if (EVP_CipherInit_ex(made->context, cipher, NULL, key, iv ? iv : zeros, op == kCCEncrypt) != 1) abort();
    EVP_CIPHER_CTX_set_padding(made->context, options & kCCOptionPKCS7Padding ? 1 : 0);
    *cryptorRef = made;
    return kCCSuccess;
}

CCCryptorStatus CCCryptorUpdate(CCCryptorRef cryptorRef, const void *dataIn, size_t dataInLength, void *dataOut,
                                size_t dataOutAvailable, size_t *dataOutMoved) {
    int moved = 0;
    if (!cryptorRef || !dataOutMoved) return kCCParamError;
    if (dataOutAvailable < dataInLength) return kCCBufferTooSmall;
    if (EVP_CipherUpdate(cryptorRef->context, dataOut, &moved, dataIn, (int)dataInLength) != 1) return kCCParamError;
    *dataOutMoved = (size_t)moved;
    return kCCSuccess;
}

CCCryptorStatus CCCryptorRelease(CCCryptorRef cryptorRef) {
    if (!cryptorRef) return kCCParamError;
    EVP_CIPHER_CTX_free(cryptorRef->context);
    free(cryptorRef);
    return kCCSuccess;
}

CCCryptorStatus CCCrypt(CCOperation op, CCAlgorithm alg, CCOptions options, const void *key, size_t keyLength,
                        const void *iv, const void *dataIn, size_t dataInLength, void *dataOut, size_t dataOutAvailable,
                        size_t *dataOutMoved) {
    CCCryptorRef cryptor;
    // Padding needs room for one more block where it is put on.
    if (op == kCCEncrypt && options & kCCOptionPKCS7Padding && dataOutAvailable < (dataInLength / 16 + 1) * 16)
        return kCCBufferTooSmall;
    if (op == kCCDecrypt && dataInLength % 16) return kCCAlignmentError;
    CCCryptorStatus status = CCCryptorCreate(op, alg, options, key, keyLength, iv, &cryptor);
    if (status) return status;
    uint8_t *buffer = malloc(dataInLength + 32);
    int first = 0, rest = 0;
    if (EVP_CipherUpdate(cryptor->context, buffer, &first, dataIn, (int)dataInLength) != 1 ||
        EVP_CipherFinal_ex(cryptor->context, buffer + first, &rest) != 1)
        status = kCCDecodeError;
    else if ((size_t)(first + rest) > dataOutAvailable)
        status = kCCBufferTooSmall;
    else {
        for (int index = 0; index < first + rest; index++) ((uint8_t *)dataOut)[index] = buffer[index];
        *dataOutMoved = (size_t)(first + rest);
    }
    free(buffer);
    CCCryptorRelease(cryptor);
    return status;
}

int CCKeyDerivationPBKDF(CCPBKDFAlgorithm algorithm, const char *password, size_t passwordLen, const uint8_t *salt,
                         size_t saltLen, CCPseudoRandomAlgorithm prf, unsigned rounds, uint8_t *derivedKey,
                         size_t derivedKeyLen) {
    if (algorithm != kCCPBKDF2 || prf != kCCPRFHmacAlgSHA256 || !password || !derivedKey || !rounds || !derivedKeyLen ||
        (!salt && saltLen))
        return kCCParamError;
    return PKCS5_PBKDF2_HMAC(password, (int)passwordLen, salt, (int)saltLen, (int)rounds, EVP_sha256(),
                             (int)derivedKeyLen, derivedKey) == 1
               ? kCCSuccess
               : kCCParamError;
}
