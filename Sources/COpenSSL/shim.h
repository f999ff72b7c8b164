#pragma once
// A key whose point can be replaced (OpenSSLP256PublicKey) is an EC_KEY, which version 3 would rather hide.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "../LateLibraries/include/LateLibraries.h"
#define LATE LATE_NAME
#include "functions.h"
#undef LATE
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

// A macro that joins several others does not import.
static inline int copenssl_keypair_selection(void) { return EVP_PKEY_KEYPAIR; }
