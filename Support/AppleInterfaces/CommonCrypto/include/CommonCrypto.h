// CommonCrypto as far as Holdfast uses it, by libcrypto: CCCryptor(3cc) and CommonKeyDerivation(3cc) of Apple's manual. Its
// constants are of enumerations without a name, which Swift sees as `Int`.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { kCCSuccess = 0, kCCParamError = -4300, kCCBufferTooSmall = -4301, kCCAlignmentError = -4303, kCCDecodeError = -4304 };
typedef int32_t CCCryptorStatus;
enum { kCCEncrypt = 0, kCCDecrypt };
typedef uint32_t CCOperation;
enum { kCCAlgorithmAES = 0 };
typedef uint32_t CCAlgorithm;
enum { kCCOptionPKCS7Padding = 1, kCCOptionECBMode = 2 };
typedef uint32_t CCOptions;
typedef struct _CCCryptor *CCCryptorRef;

CCCryptorStatus CCCryptorCreate(CCOperation op, CCAlgorithm alg, CCOptions options, const void *key, size_t keyLength,
                                const void *iv, CCCryptorRef *cryptorRef);
CCCryptorStatus CCCryptorUpdate(CCCryptorRef cryptorRef, const void *dataIn, size_t dataInLength, void *dataOut,
                                size_t dataOutAvailable, size_t *dataOutMoved);
CCCryptorStatus CCCryptorRelease(CCCryptorRef cryptorRef);
CCCryptorStatus CCCrypt(CCOperation op, CCAlgorithm alg, CCOptions options, const void *key, size_t keyLength,
                        const void *iv, const void *dataIn, size_t dataInLength, void *dataOut, size_t dataOutAvailable,
                        size_t *dataOutMoved);

enum { kCCPBKDF2 = 2 };
typedef uint32_t CCPBKDFAlgorithm;
enum { kCCPRFHmacAlgSHA256 = 3 };
typedef uint32_t CCPseudoRandomAlgorithm;
int CCKeyDerivationPBKDF(CCPBKDFAlgorithm algorithm, const char *password, size_t passwordLen, const uint8_t *salt,
                         size_t saltLen, CCPseudoRandomAlgorithm prf, unsigned rounds, uint8_t *derivedKey,
                         size_t derivedKeyLen);
