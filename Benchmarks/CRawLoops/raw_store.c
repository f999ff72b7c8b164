#include "raw_loops.h"
#include <lmdb.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

enum { epoch_size = 4, nonce_size = 12, tag_size = 16, box_offset = epoch_size + nonce_size, largest_value = 4096 };

struct raw_store {
    MDB_env *environment;
    MDB_dbi database;
    MDB_txn *reader;
    EVP_CIPHER_CTX *cipher;
    uint8_t authenticated[raw_authenticated_size];
    uint8_t plaintext[largest_value];
};

static int prepare_cipher(raw_store *store) {
    uint8_t key[32];
    if (RAND_bytes(key, sizeof key) != 1) return -1;
    store->cipher = EVP_CIPHER_CTX_new();
    if (!store->cipher) return -1;
    return EVP_EncryptInit_ex(store->cipher, EVP_aes_256_gcm(), NULL, key, NULL) == 1 ? 0 : -1;
}

static int prepare_database(raw_store *store, const char *path) {
    int status = mdb_env_create(&store->environment);
    if (status) return status;
    mdb_env_set_mapsize(store->environment, (size_t)64 << 30);
    status = mdb_env_open(store->environment, path, MDB_NOSUBDIR | MDB_NOTLS, 0600);
    MDB_txn *transaction = NULL;
    if (!status) status = mdb_txn_begin(store->environment, NULL, 0, &transaction);
    if (!status) status = mdb_dbi_open(transaction, NULL, 0, &store->database);
    if (!status) status = mdb_txn_commit(transaction);
    if (!status) status = mdb_txn_begin(store->environment, NULL, MDB_RDONLY, &store->reader);
    if (!status) mdb_txn_reset(store->reader);
    return status;
}

raw_store *raw_store_open(const char *path) {
    raw_store *store = calloc(1, sizeof *store);
    if (!store) return NULL;
    if (prepare_database(store, path) || prepare_cipher(store)) {
        raw_store_close(store);
        return NULL;
    }
    return store;
}

void raw_store_close(raw_store *store) {
    if (store->reader) mdb_txn_abort(store->reader);
    if (store->environment) mdb_env_close(store->environment);
    EVP_CIPHER_CTX_free(store->cipher);
    free(store);
}

int raw_store_seal(raw_store *store, const uint8_t *key, const uint8_t *plaintext, size_t size, uint8_t *value) {
    int written;
    memset(value, 0, epoch_size);
    uint8_t *nonce = value + epoch_size, *box = value + box_offset;
    memcpy(store->authenticated + 20, key, raw_key_size);
    int sealed = RAND_bytes(nonce, nonce_size) == 1 &&
        EVP_EncryptInit_ex(store->cipher, NULL, NULL, NULL, nonce) == 1 &&
        EVP_CipherUpdate(store->cipher, NULL, &written, store->authenticated, raw_authenticated_size) == 1 &&
        EVP_CipherUpdate(store->cipher, box, &written, plaintext, (int)size) == 1 &&
        EVP_EncryptFinal_ex(store->cipher, box + size, &written) == 1 &&
        EVP_CIPHER_CTX_ctrl(store->cipher, EVP_CTRL_AEAD_GET_TAG, tag_size, box + size) == 1;
    return sealed ? 0 : -1;
}

int raw_store_put(raw_store *store, const uint8_t *keys, const uint8_t *values, size_t value_size, size_t count) {
    MDB_txn *transaction;
    int status = mdb_txn_begin(store->environment, NULL, 0, &transaction);
    if (status) return status;
    for (size_t index = 0; index < count; index++) {
        MDB_val key = {raw_key_size, (void *)(keys + index * raw_key_size)};
        MDB_val value = {value_size, (void *)(values + index * value_size)};
        status = mdb_put(transaction, store->database, &key, &value, MDB_NOOVERWRITE);
        if (status) {
            mdb_txn_abort(transaction);
            return status;
        }
    }
    return mdb_txn_commit(transaction);
}

int raw_store_delete(raw_store *store, const uint8_t *keys, size_t count) {
    MDB_txn *transaction;
    int status = mdb_txn_begin(store->environment, NULL, 0, &transaction);
    if (status) return status;
    for (size_t index = 0; index < count; index++) {
        MDB_val key = {raw_key_size, (void *)(keys + index * raw_key_size)};
        status = mdb_del(transaction, store->database, &key, NULL);
        if (status) {
            mdb_txn_abort(transaction);
            return status;
        }
    }
    return mdb_txn_commit(transaction);
}

static int open_value(raw_store *store, const uint8_t *key, MDB_val value) {
    const uint8_t *bytes = value.mv_data;
    if (value.mv_size < raw_overhead || value.mv_size > largest_value) return 0;
    int size = (int)(value.mv_size - raw_overhead), written;
    memcpy(store->authenticated + 20, key, raw_key_size);
    return EVP_DecryptInit_ex(store->cipher, NULL, NULL, NULL, bytes + epoch_size) == 1 &&
        EVP_CipherUpdate(store->cipher, NULL, &written, store->authenticated, raw_authenticated_size) == 1 &&
        EVP_CipherUpdate(store->cipher, store->plaintext, &written, bytes + box_offset, size) == 1 &&
        EVP_CIPHER_CTX_ctrl(
            store->cipher, EVP_CTRL_AEAD_SET_TAG, tag_size, (void *)(bytes + box_offset + size)) == 1 &&
        EVP_DecryptFinal_ex(store->cipher, store->plaintext + size, &written) == 1;
}

int raw_store_get(raw_store *store, const uint8_t *keys, size_t count, uint64_t *sum) {
    for (size_t index = 0; index < count; index++) {
        MDB_val key = {raw_key_size, (void *)(keys + index * raw_key_size)}, value;
        int status = mdb_txn_renew(store->reader);
        if (status) return status;
        status = mdb_get(store->reader, store->database, &key, &value);
        if (!status && !open_value(store, key.mv_data, value)) status = -1;
        mdb_txn_reset(store->reader);
        if (status) return status;
        *sum += store->plaintext[0];
    }
    return 0;
}

int raw_store_reopen(const char *path, const uint8_t *keys) {
    MDB_env *environment = NULL;
    MDB_txn *transaction = NULL;
    MDB_dbi database;
    int status = mdb_env_create(&environment);
    if (status) return status;
    mdb_env_set_mapsize(environment, (size_t)64 << 30);
    status = mdb_env_open(environment, path, MDB_NOSUBDIR | MDB_NOTLS, 0600);
    if (!status) status = mdb_txn_begin(environment, NULL, MDB_RDONLY, &transaction);
    if (!status) status = mdb_dbi_open(transaction, NULL, 0, &database);
    for (int index = 0; index < 2 && !status; index++) {
        MDB_val key = {raw_key_size, (void *)(keys + index * raw_key_size)}, value;
        status = mdb_get(transaction, database, &key, &value);
    }
    if (transaction) mdb_txn_abort(transaction);
    mdb_env_close(environment);
    return status;
}

int raw_store_each(raw_store *store, uint64_t *sum) {
    MDB_cursor *cursor;
    MDB_val key, value;
    int status = mdb_txn_renew(store->reader);
    if (status) return status;
    status = mdb_cursor_open(store->reader, store->database, &cursor);
    if (!status) {
        while (!(status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
            if (!open_value(store, key.mv_data, value)) {
                status = -1;
                break;
            }
            *sum += store->plaintext[0];
        }
        mdb_cursor_close(cursor);
    }
    mdb_txn_reset(store->reader);
    return status == MDB_NOTFOUND ? 0 : status;
}
