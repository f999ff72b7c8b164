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

// Seconds for an import of a compressed P-256 key and an agreement with it, each; negative when OpenSSL refuses.
double raw_p256_agree(int loops);

// One verification by fprintd on the bus at `address`, as a client does it that does nothing else: connect, find the
// sensor, claim it, start, wait for the verdict, stop, release. `touch` is called once the sensor waits. 0 for a match, else
// a negative number.
int raw_fprint(const char *address, void (*touch)(void *), void *context);

// A client of a Unix socket that does nothing else. The descriptor, or -1.
int raw_socket_open(const char *path);
// Sends a request in the agent's frames and reads until a frame of the kind `last` has come. 1, or 0.
int raw_socket_frames(int descriptor, const uint8_t *request, size_t size, uint8_t last);
// Sends a message of ssh-agent's protocol. The first byte of the answer, or -1.
int raw_socket_ssh(int descriptor, const uint8_t *message, size_t size);

// Gives what the allocator keeps of freed memory back to the system.
void raw_give_memory_back(void);

// The loop that says how busy the machine is: SHA-256 over 64 MiB. Seconds of this thread's processor time.
double raw_calibrate(void);

// OpenSSL's version, as it says it itself.
const char *raw_openssl_version(void);

// Digests `size` bytes so many times, each time with the last digest's first byte in front. 0, or -1 when OpenSSL refuses.
enum { raw_sha256 = 0, raw_blake2b = 1 };
int raw_digest(int kind, uint8_t *bytes, size_t size, int times);

// Base64 by OpenSSL: 64 bytes to 88 characters, or back, so many times. The sum of what came out.
uint64_t raw_base64_encode(uint8_t bytes[64], int times);
uint64_t raw_base64_decode(uint8_t text[88], int times);

// What reading and writing a message does at the least to its bytes: each is looked at for a quotation mark, and copied into
// memory of its own. How many quotation marks there were.
uint64_t raw_message(const uint8_t *bytes, size_t size, int times);

// Base64, and inflating until more than `most` bytes came. The bytes that came, or -1.
long raw_inflate(const uint8_t *text, size_t size, size_t most);

// 64 bytes of memory from the allocator, zeroed, read, wiped and returned, so many times.
uint64_t raw_allocate(int times);

// Opens the database at `path` anew, finds two keys, and closes it. An LMDB code.
int raw_store_reopen(const char *path, const uint8_t *keys);

// Opens every value in the order of the keys, as raw_store_get does. An LMDB code, or -1.
int raw_store_each(raw_store *store, uint64_t *sum);

// Reads a whole file, a MiB at a time, and looks at one byte of each page. 0 or -1.
int raw_read_through(const char *path, uint64_t *sum);

// Connects to the socket at `path`, sends `size` bytes and waits for as many. 0 or -1.
int raw_echo(const char *path, size_t size);

// AES-256-GCM over a file in pieces of `chunk` bytes, each with its tag behind it: from `from` to `to`, flushed at the end; or
// back, where what comes out is only looked at. 0 or -1.
int raw_seal_file(const char *from, const char *to, size_t chunk);
int raw_open_file(const char *from, size_t chunk, uint64_t *sum);

// How often any of `words` (each ended by a zero byte, the last by two) is in `text`.
uint64_t raw_find(const char *text, size_t size, const char *words);
