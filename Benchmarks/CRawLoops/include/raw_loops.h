// What the vault is measured against: the same work done by the libraries themselves, in C, with nothing around it.
#pragma once
#include <stddef.h>
#include <stdint.h>

// An LMDB environment like the vault's, and one AES-256-GCM context that is kept. Keys have 32 bytes; values are sealed
// the way records are: epoch (4), nonce (12), ciphertext, tag (16), under 56 bytes of authenticated data.
typedef struct raw_store raw_store;

enum { raw_key_size = 32, raw_overhead = 32, raw_authenticated_size = 56 };

// Opens or creates the database at `path`. NULL on failure.
raw_store *raw_store_open(const char *path);
void raw_store_close(raw_store *store);

// Seals `plaintext` for `key` into `value` (size + raw_overhead bytes). 0 or -1.
int raw_store_seal(raw_store *store, const uint8_t *key, const uint8_t *plaintext, size_t size, uint8_t *value);

// One durable transaction with `count` entries of `value_size` bytes, both arrays packed. An LMDB code.
int raw_store_put(raw_store *store, const uint8_t *keys, const uint8_t *values, size_t value_size, size_t count);
int raw_store_delete(raw_store *store, const uint8_t *keys, size_t count);

// The combined loop: for each key renew the snapshot, get, open, end the snapshot. Adds one decrypted byte each to `sum`,
// so that nothing can be left out. An LMDB code, or -1 for a value that does not open.
int raw_store_get(raw_store *store, const uint8_t *keys, size_t count, uint64_t *sum);

// SQLCipher: a table from name to value, opened with a raw key so that no key derivation runs.
typedef struct raw_sqlcipher raw_sqlcipher;

// Opens or creates the database at `path`, in WAL mode with the default cache. NULL on failure.
raw_sqlcipher *raw_sqlcipher_open(const char *path);
void raw_sqlcipher_close(raw_sqlcipher *database);

// Names and values are packed: `count` of `name_size` and `value_size` bytes. Codes of SQLite; 0 when all went well.
int raw_sqlcipher_put(
    raw_sqlcipher *database, const char *names, size_t name_size, const uint8_t *values, size_t value_size, size_t count);
int raw_sqlcipher_get(raw_sqlcipher *database, const char *names, size_t name_size, size_t count, uint64_t *sum);

// Seconds of processor time for so many imports of a compressed P-256 key, verifications and signatures over 600 bytes,
// each; negative when OpenSSL refuses.
double raw_p256(int loops, int imports, int verifies, int signs);

// One verification by fprintd on the bus at `address`, as a client does it that does nothing else: connect, find the
// sensor, claim it, start, wait for the verdict, stop, release. `touch` is called once the sensor waits. 0 for a match, else
// a negative number.
int raw_fprint(const char *address, void (*touch)(void *), void *context);

// Gives what the allocator keeps of freed memory back to the system.
void raw_give_memory_back(void);
