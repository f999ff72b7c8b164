#!/usr/bin/env python3
"""Opens a Holdfast vault without Holdfast: a second, independent reader of Docs/vault-format.md.

    holdfast_decrypt.py [OPTION] HOME list                   one JSON object a line for each record
    holdfast_decrypt.py [OPTION] HOME get COLLECTION NAME    the raw bytes of one value to standard output
    holdfast_decrypt.py [OPTION] HOME export FOLDER          every value into a file below a new or empty FOLDER
    holdfast_decrypt.py [OPTION] HOME verify                 everything is read and compared with the root record
    holdfast_decrypt.py [OPTION] HOME items                  one JSON object a line for each item, secrets included
    holdfast_decrypt.py [OPTION] HOME open                   as list, of what waits in the open compartment
    holdfast_decrypt.py [OPTION] HOME open-get COLLECTION NAME
    holdfast_decrypt.py HOME describe                        level, slots and what is pending, without a secret, unproved

Asks for the passcode on the terminal. Options:
    --passcode-fd N    read the passcode from this file descriptor: one line, without its line feed
    --phrase           ask for the vault's recovery phrase instead
    --phrase-fd N      read the phrase from this file descriptor, one line
    --share-fd N       read the share of a vault that opens without asking, which its key store has: 64 hexadecimal digits

Needs Python 3.9, cryptography, argon2-cffi and lmdb (Debian: python3-cryptography python3-argon2 python3-lmdb).

Reads only: nothing in the home is written, no lock is taken and no attempt is counted. Run it while nothing writes to
the vault, or on a copy. Argon2id's costs may be below Holdfast's floor, because this program protects nothing, but not
above its ceiling; verify says whether they are (belowFloor). Secrets lie in ordinary memory. LMDB may crash on a
database that was damaged on purpose.

Exit status: 0 done, 1 failed, 2 wrong usage, 3 wrong passcode or phrase, 5 damaged, 6 not found.
"""

import argparse
import getpass
import hashlib
import hmac
import json
import os
import shutil
import struct
import sys
import tempfile
import unicodedata

try:
    import argon2.low_level
    import lmdb
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
except ImportError as missing:
    sys.exit(f"holdfast_decrypt: {missing}; on Debian: apt install python3-cryptography python3-argon2 python3-lmdb")

FORMAT_VERSION = 1
REVISION = 1  # of the layout; builds from before the first release wrote 0
COPY_SIZE = 8192
PASSCODE, PHRASE, OWNER, PIN, DEVICE = 1, 2, 3, 4, 5
KIND_NAMES = {1: "passcode", 2: "recoveryPhrase", 3: "deviceOwner", 4: "pin", 5: "device"}
STORE_NAMES = {1: "tpm", 2: "secretService", 3: "file", 4: "keychain"}
TPM, KEYCHAIN = 1, 4
LEVELS = ("device", "owner", "secret")
HARDWARE_SHARE, BINDS_POLICY = 1, 2
RECORDS, NAMES, FILES, LOG, IDENTITY, INBOX, LOG_REACHED = 1, 2, 3, 4, 5, 6, 7
ROOT_KEY, ROOT_LOOKUP = b"\0", bytes(32)
RECORDS_TREE = b"records"
CHUNK, TAG = 65536, 16
# Costs of Argon2id that Holdfast takes: at least, at most; and the longest names, in bytes.
PASSES, MEMORY_KIB = (3, 64), (65536, 2097152)
LONGEST_COLLECTION, LONGEST_NAME = 255, 1024
# What an item may hold (items.md 3): bytes, entries, fields, tags, earlier values; then bytes of a label and of a tag.
ITEM_SIZE, ITEM_ENTRIES, ITEM_FIELDS, ITEM_TAGS, ITEM_HISTORY = 1048576, 1024, 256, 64, 256
LONGEST_LABEL, LONGEST_TAG = 255, 64
ITEM_KINDS = {1: "login", 2: "note", 3: "card", 4: "identity", 5: "ssh-key", 6: "one-time-code", 7: "file", 8: "value"}
FIELD_KINDS = {1: "text", 2: "secret", 3: "url", 4: "one-time-code", 5: "date", 6: "file"}
FILE_MAGIC = b"HFFILE\0\1"


class Failure(Exception):
    status = 1


class WrongSecret(Failure):
    status = 3


class Damaged(Failure):
    status = 5


class NotFound(Failure):
    status = 6


# ---------------------------------------------------------------------------------------------------------------------
# BLAKE3, from its specification: the plain hash, the keyed hash and key derivation, 32 bytes of output each.

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
CHUNK_START, CHUNK_END, PARENT, ROOT, KEYED_HASH, DERIVE_CONTEXT, DERIVE_MATERIAL = 1, 2, 4, 8, 16, 32, 64
COLUMNS_AND_DIAGONALS = (
    (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
)  # fmt: skip


def compress(chaining, block, counter, length, flags):
    """The compression function; gives the first eight words of its output."""
    message = struct.unpack("<16I", block.ljust(64, b"\0"))
    v = [*chaining, *IV[:4], counter & 0xFFFFFFFF, counter >> 32, length, flags]
    for _ in range(7):
        for index, (a, b, c, d) in enumerate(COLUMNS_AND_DIAGONALS):
            va, vb, vc, vd = v[a], v[b], v[c], v[d]
            for word, by_d, by_b in ((message[2 * index], 16, 12), (message[2 * index + 1], 8, 7)):
                va = (va + vb + word) & 0xFFFFFFFF
                vd ^= va
                vd = (vd >> by_d | vd << (32 - by_d)) & 0xFFFFFFFF
                vc = (vc + vd) & 0xFFFFFFFF
                vb ^= vc
                vb = (vb >> by_b | vb << (32 - by_b)) & 0xFFFFFFFF
            v[a], v[b], v[c], v[d] = va, vb, vc, vd
        message = [message[i] for i in PERMUTATION]
    return tuple(low ^ high for low, high in zip(v[:8], v[8:]))


def subtree(data, key, counter, flags, root=0):
    """The chaining value of a subtree whose first chunk has the number `counter`."""
    if len(data) <= 1024:
        value, blocks = key, [data[i : i + 64] for i in range(0, len(data), 64)] or [b""]
        for index, block in enumerate(blocks):
            start = CHUNK_START if index == 0 else 0
            end = CHUNK_END | root if index == len(blocks) - 1 else 0
            value = compress(value, block, counter, len(block), flags | start | end)
        return value
    left = 1024  # the left side is the largest power of two of chunks that leaves something for the right side
    while left * 2 < len(data):
        left *= 2
    both = subtree(data[:left], key, counter, flags) + subtree(data[left:], key, counter + left // 1024, flags)
    return compress(key, struct.pack("<16I", *both), 0, 64, flags | PARENT | root)


def blake3(data, key=IV, flags=0):
    return struct.pack("<8I", *subtree(data, key, 0, flags, ROOT))


def blake3_keyed(key, data):
    return blake3(data, struct.unpack("<8I", key), KEYED_HASH)


def blake3_derive(context, material):
    key = blake3(context.encode(), flags=DERIVE_CONTEXT)
    return blake3(material, struct.unpack("<8I", key), DERIVE_MATERIAL)


# ---------------------------------------------------------------------------------------------------------------------
# The other primitives.


def hkdf(salt, key, info, size):
    """HKDF-SHA256 (RFC 5869)."""
    extracted = hmac.digest(salt, key, "sha256")
    output, block = b"", b""
    while len(output) < size:
        block = hmac.digest(extracted, block + info + bytes([len(output) // 32 + 1]), "sha256")
        output += block
    return output[:size]


def open_box(key, nonce, box, associated, what):
    """AES-256-GCM; the tag follows the ciphertext."""
    try:
        return AESGCM(key).decrypt(nonce, box, associated)
    except (InvalidTag, ValueError):
        raise Damaged(f"{what} does not match its authentication tag") from None


def private_key(vault, seed, label=b"holdfast/1/inbox-scalar"):
    """The private key of a seed: the first candidate that is a scalar of P-256."""
    for attempt in range(256):
        scalar = int.from_bytes(hkdf(vault, seed, label + bytes([attempt]), 32), "big")
        try:
            return ec.derive_private_key(scalar, ec.SECP256R1())
        except ValueError:
            continue
    raise Damaged("a seed gives no private key")


def compressed(key):
    numbers = key.public_key().public_numbers()
    return bytes([2 | numbers.y & 1]) + numbers.x.to_bytes(32, "big")


def sealed_key(vault, shared, ephemeral, recipient):
    """Key and nonce of a sealed box."""
    both = hkdf(vault, shared + ephemeral + recipient, b"holdfast/1/sealed-box", 44)
    return both[:32], both[32:]


def open_sealed_box(vault, key, box, associated, what):
    """What was sealed to a public key: ephemeral point, ciphertext, tag."""
    try:
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), box[:33])
    except ValueError:
        raise Damaged(f"{what} has no point on the curve") from None
    shared = key.exchange(ec.ECDH(), point)
    box_key, nonce = sealed_key(vault, shared, box[:33], compressed(key))
    return open_box(box_key, nonce, box[33:], associated, what)


def open_sealed(vault, seeds, item):
    """An item that was sealed to the vault's public key; its plaintext is laid out as a record's."""
    epoch = int.from_bytes(item[:4], "little")
    if len(item) < 4 + 33 + TAG or epoch not in seeds:
        raise Damaged("an item is not sealed to this vault")
    key = private_key(vault, seeds[epoch])
    associated = vault + b"inbox" + struct.pack("<II", FORMAT_VERSION, epoch)
    return open_sealed_box(vault, key, item[4:], associated, "a sealed item")


def argon2id(passcode, salt, passes, memory, lanes):
    if passes > PASSES[1] or memory > MEMORY_KIB[1] or lanes != 1:
        raise Damaged("the passcode slot asks for Argon2id costs above what is allowed")
    try:
        return argon2.low_level.hash_secret_raw(
            passcode, salt, passes, memory, lanes, 32, argon2.low_level.Type.ID, version=0x13
        )
    except argon2.exceptions.HashingError as error:
        raise Failure(f"Argon2id: {error}") from None


def entropy_of(phrase):
    """The 32 bytes behind 24 BIP-39 words, which may be cut after their fourth letter."""
    indices = []
    for position, word in enumerate(phrase.lower().split(), 1):
        matches = [i for i, known in enumerate(WORDS) if known == word or len(word) >= 4 and known.startswith(word)]
        if word in WORDS:
            matches = [WORDS.index(word)]
        if len(matches) != 1:
            raise WrongSecret(f"word {position} of the phrase is not in the BIP-39 English list")
        indices.append(matches[0])
    if len(indices) != 24:
        raise WrongSecret(f"a recovery phrase has 24 words, this one {len(indices)}")
    number = 0
    for index in indices:
        number = number << 11 | index
    entropy = (number >> 8).to_bytes(32, "big")
    if hashlib.sha256(entropy).digest()[0] != number & 0xFF:
        raise WrongSecret("the phrase's checksum is wrong: one word is another, or two are exchanged")
    return entropy


# ---------------------------------------------------------------------------------------------------------------------
# Header, slots, policy, keybag (vault-format.md 4 to 7).


class Reader:
    """Fields of a structure one after the other."""

    def __init__(self, data, what):
        self.data, self.position, self.what = data, 0, what

    def take(self, size):
        part = self.data[self.position : self.position + size]
        if len(part) != size:
            raise Damaged(f"{self.what} ends early")
        self.position += size
        return part

    def integer(self, size):
        return int.from_bytes(self.take(size), "little")

    def counted(self, limit):
        size = self.integer(2)
        self.check(size <= limit)
        return self.take(size)

    def rest(self):
        return self.take(len(self.data) - self.position)

    def check(self, condition):
        if not condition:
            raise Damaged(f"{self.what} has a field that no writer writes")


class ShareItem:
    """Where a revocable share rests (vault-format.md 5)."""

    def __init__(self, store, data):
        reader = Reader(data, "a share's item")
        reader.check(store in STORE_NAMES)
        self.store, self.name = store, reader.take(32)
        if store == TPM:
            self.handle, self.index_name = reader.integer(4), reader.counted(34)
            reader.check(len(self.index_name) == 34)
            reader.take(32)  # what the chip asks for
        else:
            backend = reader.counted(128)
            reader.check(all(0x21 <= byte <= 0x7E for byte in backend))
            self.backend = backend.decode("ascii")
        reader.check(not reader.rest())


def is_own_share(name, vault, home):
    """Whether a share's name shows that it was made for this vault and this home of it."""
    drawn = name[16:21]
    proof = hashlib.sha256(b"holdfast/1/share-of" + vault + home + drawn).digest()[:11]
    return name == vault + drawn + proof


def share_of(kind, store, data):
    """The item that a slot of kind 3 or 5 names."""
    reader = Reader(data, "a slot")
    reader.check(reader.integer(1) == 1 and reader.integer(1) == store)
    if kind == OWNER:
        reader.take(32)  # the second share
        text(reader.counted(512), "a slot")
    item = ShareItem(store, reader.counted(1024))
    reader.check(not reader.rest())
    return item


class Slot:
    def __init__(self, data):
        reader = Reader(data, "a slot")
        self.id, self.kind, self.flags = reader.integer(1), reader.integer(1), reader.integer(2)
        reader.check(self.flags & ~(HARDWARE_SHARE | BINDS_POLICY) == 0)
        derivation = reader.integer(1)
        self.costs = tuple(reader.integer(4) for _ in range(3))  # passes, KiB, lanes
        reader.check(derivation == 1 or derivation == 0 and self.costs == (0, 0, 0))
        self.salt = reader.take(16)
        hardware_name = reader.counted(128)
        reader.check(self.flags & HARDWARE_SHARE or not hardware_name)
        data_of_kind = reader.counted(1024)
        self.parameters = data[: reader.position]
        self.commitment, self.nonce, self.wrapped = reader.take(32), reader.take(12), reader.take(48)
        reader.check(not reader.rest())
        if self.kind == PASSCODE:
            reader.check(derivation == 1 and self.flags & BINDS_POLICY)
        if self.kind == PHRASE:
            reader.check(derivation == 0 and self.flags == 0)
        if self.kind == PIN:
            reader.check(derivation == 1 and self.flags == HARDWARE_SHARE | BINDS_POLICY)
        self.share = None
        if self.kind in (OWNER, DEVICE):
            reader.check(derivation == 0 and self.flags == HARDWARE_SHARE)
            reader.check(len(hardware_name) == 1 and hardware_name[0] in STORE_NAMES)
            self.store = hardware_name[0]
            self.share = share_of(self.kind, self.store, data_of_kind)

    @property
    def is_cheap(self):
        """Whether guessing costs less than in any slot that Holdfast opens."""
        return any(self.costs) and (self.costs[0] < PASSES[0] or self.costs[1] < MEMORY_KIB[0])


def check_policy(data):
    """Only the canonical encoding of values within their ranges is a policy."""
    reader = Reader(data, "the policy")
    version, limit, destruct, _, count = (reader.integer(size) for size in (1, 1, 1, 4, 1))
    reader.check(version in (1, 2, 3, 4) and 3 <= limit <= 10 and destruct <= 1 and 1 <= count <= 16)
    delays = [reader.integer(4) for _ in range(count)]
    reader.check(delays == sorted(delays) and delays[-1] <= 3600)
    minima = [(reader.counted(LONGEST_COLLECTION), reader.integer(1)) for _ in range(reader.integer(2))]
    names = [name for name, _ in minima]
    reader.check(names == sorted(set(names)) and all(assurance <= 4 for _, assurance in minima))
    if version >= 2:
        check_later_rules(reader, version)
    reader.check(not reader.rest())
    for name in names:
        text(name, "the policy")


# Version 1 stands for these: switches, countdown, fallback steps as (step, assurance, conditions, hours).
LATER_DEFAULTS = (4, 30, [(3, 2, 0, 0), (4, 2, 0b0100_0111, 0)])
POSSIBLE_ASSURANCE = {1: range(5), 2: range(5), 3: range(2, 5), 4: range(2, 3), 5: range(1)}
REQUESTED, CANCELLED = 0x40, 0x80


def check_later_rules(reader, version):
    """What version 2 of the policy adds. Version 3: no step at all, or a step of the owner that proves nothing. Version 4: as 3, or as 2,
    where nothing is remembered."""
    switches, countdown, count = (reader.integer(size) for size in (1, 4, 1))
    reader.check(switches <= 15 and (version == 4) == (switches & 8 != 0) and 30 <= countdown <= 86400)
    steps = [tuple(reader.integer(size) for size in (1, 1, 1, 2)) for _ in range(count)]
    for number, (step, assurance, conditions, hours) in enumerate(steps):
        reader.check(assurance in POSSIBLE_ASSURANCE.get(step, ()) and (conditions == 0) == (number == 0))
        reader.check(not conditions & (REQUESTED if step == 5 else CANCELLED))
        reader.check(hours <= 720 and (step <= 2 or hours == 0))
    reader.check(len({step for step, *_ in steps}) == count)
    takes_no_proof = count == 0 or any(step <= 2 and assurance == 0 for step, assurance, *_ in steps)
    reader.check(version == 4 or (version == 3) == takes_no_proof)
    reader.check((switches, countdown, steps) != LATER_DEFAULTS)


class Header:
    def __init__(self, copy):
        reader = Reader(copy, "the header")
        reader.check(len(copy) == COPY_SIZE)
        if reader.take(8) != b"HOLDFAST":
            raise Damaged("this is not the header of a vault")
        if blake3(copy[:-32]) != copy[-32:]:
            raise Damaged("the header does not match its checksum")
        version = reader.integer(4)
        if version > FORMAT_VERSION:
            raise Failure(f"the vault has format version {version}; this program knows {FORMAT_VERSION}")
        reader.check(version == FORMAT_VERSION)
        self.anchored, revision = reader.integer(2), reader.integer(2)
        if revision < REVISION:
            raise Failure("this vault was made by a build from before the first release, whose layout is no longer read")
        reader.check(self.anchored <= 1 and revision == REVISION)
        self.vault = reader.take(16)
        self.generation, self.created, self.epoch = reader.integer(8), reader.integer(8), reader.integer(4)
        policy = reader.counted(2048)
        check_policy(policy)
        self.policy_digest = blake3(policy)
        self.sealed_keybag = reader.counted(4096)
        count = reader.integer(1)
        reader.check(count <= 16)
        self.slots = [Slot(reader.counted(COPY_SIZE)) for _ in range(count)]
        # Behind the zeros lies what the home is known by to its own hardware and wipes: 92 bytes that open nothing.
        reader.check(not any(reader.take(COPY_SIZE - 64 - 92 - reader.position)))
        self.covered, self.mac = copy[:-64], copy[-64:-32]
        self.home = copy[-96:-64]
        reader.check(len({slot.id for slot in self.slots}) == count)
        for single in (PASSCODE, PHRASE, PIN, DEVICE):
            reader.check(sum(slot.kind == single for slot in self.slots) <= 1)

    def slot(self, kind):
        for slot in self.slots:
            if slot.kind == kind:
                return slot
        raise Failure(f"the vault has no {KIND_NAMES[kind]} slot")

    @property
    def level(self):
        """How far the vault has grown, by its slots."""
        kinds = {slot.kind for slot in self.slots}
        if DEVICE in kinds:
            return LEVELS[0]
        weakest = any(slot.kind == OWNER and slot.store != KEYCHAIN for slot in self.slots)
        return LEVELS[2] if kinds & {PASSCODE, PIN} and not weakest else LEVELS[1]


def read_header(home):
    """Copy 1 where it is valid, else copy 2."""
    try:
        with open(os.path.join(home, "header"), "rb") as file:
            data = file.read(2 * COPY_SIZE + 1)
    except FileNotFoundError:
        if os.path.lexists(os.path.join(home, ".creating")):
            raise NotFound(f"the vault at {home} was never finished") from None
        raise NotFound(f"there is no vault at {home}") from None
    copies = []
    for number in (1, 2):
        try:
            copies.append(Header(data[(number - 1) * COPY_SIZE : number * COPY_SIZE]))
        except Failure as failure:
            copies.append(failure)
            warn(f"copy {number} of the header: {failure}")
    first, second = copies
    # What is of a newer program goes first: beside it an older copy says nothing.
    for copy in (second, first):
        if not isinstance(copy, (Header, Damaged)):
            raise copy
    if isinstance(first, Header):
        if isinstance(second, Header) and data[:COPY_SIZE] != data[COPY_SIZE : 2 * COPY_SIZE]:
            warn("the two copies of the header differ; the first one holds")
        return first
    if isinstance(second, Header):
        return second
    raise first


class Keys:
    """The keys of one epoch."""

    def __init__(self, keybag, epoch):
        try:
            self.records, self.names, self.files = (keybag[kind, epoch] for kind in (RECORDS, NAMES, FILES))
        except KeyError:
            raise Damaged(f"the keybag lacks a key of epoch {epoch}") from None
        self.sum = blake3_derive("holdfast/1/record-sum", self.names)

    def lookup(self, collection, name):
        parts = (struct.pack("<H", len(part)) + part for part in (collection, name))
        return blake3_keyed(self.names, b"".join(parts))

    def term(self, lookup, sequence):
        return int.from_bytes(blake3_keyed(self.sum, lookup + struct.pack("<Q", sequence)), "little")


WRONG = {
    PASSCODE: "wrong passcode", PHRASE: "this is not the phrase of this vault", DEVICE: "this is not the device's share",
}  # fmt: skip


def open_keybag(header, kind, factor):
    """All keys by kind and epoch. `factor` is what a passcode in its forms, or a phrase, yields for a slot (A); of a device's slot,
    whose A is zero, the share."""
    slot = header.slot(kind)
    if slot.flags & HARDWARE_SHARE and kind != DEVICE:
        raise Failure("this slot needs a share from hardware too; use the recovery phrase")
    info = b"holdfast/1/slot/" + KIND_NAMES[kind].encode()
    for given in factor(slot):
        both = hkdf(slot.salt, given + bytes(32) if kind == DEVICE else bytes(32) + given, info, 64)
        if hmac.compare_digest(both[32:], slot.commitment):
            break
    else:
        raise WrongSecret(WRONG[kind])
    version = struct.pack("<I", FORMAT_VERSION)
    digest = header.policy_digest if slot.flags & BINDS_POLICY else bytes(32)
    associated = header.vault + version + slot.parameters + digest
    master = open_box(both[:32], slot.nonce, slot.wrapped, associated, "the slot, or the policy it binds,")

    mac_key = hkdf(header.vault, master, b"holdfast/1/header-mac", 32)
    if not hmac.compare_digest(hmac.digest(mac_key, header.covered, "sha256"), header.mac):
        raise Damaged("the header was changed by something else than Holdfast")
    if header.anchored:
        warn("this vault also keeps its generation in a key store, which cannot be asked here: it may be an old copy")

    keybag_key = hkdf(header.vault, master, b"holdfast/1/keybag", 32)
    associated = header.vault + b"keybag" + version + struct.pack("<I", header.epoch)
    sealed = header.sealed_keybag
    reader = Reader(open_box(keybag_key, sealed[:12], sealed[12:], associated, "the keybag"), "the keybag")
    reader.check(reader.integer(1) == 1)
    keybag = {}
    for _ in range(reader.integer(2)):
        kind, epoch = reader.integer(1), reader.integer(4)
        reader.check(RECORDS <= kind <= LOG_REACHED and (kind, epoch) not in keybag)
        keybag[kind, epoch] = reader.take(32)
    reader.check(not reader.rest())
    return keybag


def unlock(header, kind, factor):
    """The keys of the records by epoch, the newest first."""
    keybag = open_keybag(header, kind, factor)
    epochs = sorted((epoch for kind, epoch in keybag if kind == RECORDS), reverse=True)
    if not epochs or epochs[0] != header.epoch:
        raise Damaged("the keybag does not fit the header")
    header.inbox_seeds = {epoch: key for (kind, epoch), key in keybag.items() if kind == INBOX}
    return {epoch: Keys(keybag, epoch) for epoch in epochs}


# ---------------------------------------------------------------------------------------------------------------------
# Records, root record, files (vault-format.md 8 to 10).


def text(data, what):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Damaged(f"{what} has a name that is not UTF-8") from None


class Record:
    def __init__(self, plaintext, epoch):
        reader = Reader(plaintext, "a record")
        version, self.kind, origin, form = (reader.integer(1) for _ in range(4))
        reader.check(version == 1 and self.kind <= 3 and origin <= 1 and form <= 1)
        reader.check(origin == 1 or self.kind <= 1)
        reader.check(form == 0 or self.kind == 0 and origin == 0)
        self.is_item = form == 1
        self.origin = ("protected", "open")[origin]
        sizes = reader.integer(2), reader.integer(2)
        reader.check(sizes[0] <= LONGEST_COLLECTION and 1 <= sizes[1] <= LONGEST_NAME)
        self.sequence, self.created, self.modified = struct.unpack("<Qqq", reader.take(24))
        self.raw_names = reader.take(sizes[0]), reader.take(sizes[1])
        self.collection, self.name = (text(raw, "a record") for raw in self.raw_names)
        self.label = None
        if self.kind == 3:  # an item of the inbox: what it was called where it was written
            flags = reader.integer(1)
            reader.check(flags <= 1)
            original = [text(reader.counted(limit), "a record") for limit in (LONGEST_COLLECTION, LONGEST_NAME)]
            self.label = {"collection": original[0], "name": original[1], "sealed": flags == 1}
        self.content, self.epoch = reader.rest(), epoch
        self.size = len(self.content)
        if self.kind == 1:
            reader.check(self.size == 56)
            self.file_id, self.file_key = self.content[:16], self.content[24:]
            self.size = int.from_bytes(self.content[16:24], "little")

    def description(self):
        return {
            "collection": self.collection, "name": self.name, "size": self.size, "created": self.created,
            "modified": self.modified, "stored": "file" if self.kind == 1 else "record", "origin": self.origin,
            **({"original": self.label} if self.label else {}), **({"form": "item"} if self.is_item else {}),
        }  # fmt: skip


def label(data, limit, reader):
    reader.check(1 <= len(data) <= limit and not any(byte < 0x20 or byte == 0x7F for byte in data))
    return text(data, "an item")


def date(value):
    """Whether this is a day or a month: 2031-12-24 or 2031-12."""
    parts = value.split(b"-")
    sizes = [len(part) for part in parts]
    if sizes not in ([4, 2], [4, 2, 2]) or not all(part.isdigit() for part in parts):
        return False
    return 1 <= int(parts[1]) <= 12 and (len(parts) == 2 or 1 <= int(parts[2]) <= 31)


def item_field(reader):
    """A field out of the rest of an entry."""
    kind, zero = reader.integer(1), reader.integer(1)
    reader.check(kind > 0 and zero == 0)
    field = {"label": label(reader.counted(LONGEST_LABEL), LONGEST_LABEL, reader)}
    field["kind"] = FIELD_KINDS.get(kind, kind)
    if kind == 6:
        field["file"] = label(reader.counted(255), 255, reader)
        reader.check("/" not in field["file"] and field["file"] not in (".", ".."))
    value = reader.rest()
    if kind in (1, 3, 4):
        field["value"] = text(value, "an item")
        reader.check(kind != 4 or value.startswith(b"otpauth://"))
        return field
    reader.check(kind != 5 or date(value))
    try:
        field["value"] = value.decode("utf-8")
    except UnicodeDecodeError:
        field["bytes"] = value.hex()
    return field


def parse_item(data):
    """What is in an item (items.md 2)."""
    reader = Reader(data, "an item")
    reader.check(len(data) <= ITEM_SIZE)
    version = reader.integer(1)
    if version > 1:
        raise Failure(f"an item has version {version}; this program knows 1")
    kind, flags = reader.integer(1), reader.integer(2)
    reader.check(version == 1 and kind > 0 and flags <= 1)
    item = {"kind": ITEM_KINDS.get(kind, kind), "favourite": flags == 1, "id": reader.take(16).hex()}
    item["created"], item["modified"] = struct.unpack("<qq", reader.take(16))
    item.update(fields=[], tags=[], history=[], unknown=[])
    last, count = 1, 0
    while reader.position < len(data):
        tag, size = reader.integer(1), reader.integer(4)
        entry = Reader(reader.take(size), "an item")
        count += 1
        reader.check(tag >= last and count <= ITEM_ENTRIES)
        last = tag
        if tag == 1:
            item["fields"].append(item_field(entry))
        elif tag == 2:
            item["tags"].append(label(entry.rest(), LONGEST_TAG, reader))
        elif tag == 3:
            reader.check("notes" not in item)
            item["notes"] = text(entry.rest(), "an item")
        elif tag == 4:
            reader.check("trash" not in item)
            moved, expires = struct.unpack("<qq", entry.take(16))
            name = entry.counted(LONGEST_NAME)
            reader.check(expires >= moved and name and not entry.rest())
            item["trash"] = {"moved": moved, "expires": expires, "name": text(name, "an item")}
        elif tag == 5:
            item["history"].append({"replaced": struct.unpack("<q", entry.take(8))[0], **item_field(entry)})
        else:
            item["unknown"].append({"tag": tag, "bytes": entry.rest().hex()})
    tags = [tag.encode() for tag in item["tags"]]
    reader.check(tags == sorted(set(tags)) and len(tags) <= ITEM_TAGS)
    reader.check(len(item["fields"]) <= ITEM_FIELDS and len(item["history"]) <= ITEM_HISTORY)
    return item


class Vault:
    """An open vault. `damage` counts what was found and reported on the way."""

    def __init__(self, home, header, epochs):
        self.home, self.header, self.epochs, self.damage = home, header, epochs, 0
        self.open_trees("vault.mdb")
        root = self.transaction.get(ROOT_KEY, db=self.main_tree)
        if root is None:
            raise Damaged("the root record is missing: records were lost")
        plaintext, _ = self.open_value(root[:-8], ROOT_LOOKUP, "the root record")
        if len(plaintext) not in (64, 104):
            raise Damaged("the root record has the wrong size")
        self.count, _ = struct.unpack("<QQ", plaintext[:16])
        self.sum = int.from_bytes(plaintext[16:48], "little")
        # A compacted copy is numbered from 1 again.
        number, snapshot = int.from_bytes(plaintext[48:56], "little"), self.environment.info()["last_txnid"]
        if plaintext[48:56] != root[-8:] or number != snapshot and snapshot != 1:
            self.report("the database is older than it says, or was changed by something else")

    def domain(self):
        return self.header.vault

    def open_trees(self, name):
        self.environment = self.open_database(os.path.join(self.home, name))
        self.main_tree = self.environment.open_db(None)
        try:
            records = self.environment.open_db(RECORDS_TREE, create=False)
        except lmdb.NotFoundError:
            raise Damaged(f"{name} has no tree of records (as if made by a build from before the first release)") from None
        self.transaction = self.environment.begin(records)
        if any(flag for tree in (self.main_tree, records) for flag in tree.flags(self.transaction).values()):
            raise Damaged(f"{name} has flags that were never set")

    def open_database(self, path):
        options = {"readonly": True, "lock": False, "subdir": False, "create": False, "max_dbs": 1}
        try:
            environment = lmdb.open(path, **options)
        except lmdb.Error as error:
            raise Damaged(f"vault.mdb: {error}") from None
        needed = (environment.info()["last_pgno"] + 1) * environment.stat()["psize"]
        if needed <= os.path.getsize(path):
            return environment
        # Unused pages at the end need not be there. To read behind the end of the file would end this process, so a
        # copy is read (it is as encrypted as the file), in which zeros stand for what is missing.
        environment.close()
        if needed > 64 << 30:
            raise Damaged("vault.mdb is shorter than it says")
        self.copy = tempfile.TemporaryDirectory()
        path = shutil.copyfile(path, os.path.join(self.copy.name, "vault.mdb"))
        os.truncate(path, needed)
        return lmdb.open(path, **options)

    def open_value(self, value, lookup, what):
        epoch = int.from_bytes(value[:4], "little")
        if len(value) < 32 or epoch not in self.epochs:
            raise Damaged(f"{what} is not under any key of this vault")
        associated = self.domain() + value[:4] + lookup + struct.pack("<I", FORMAT_VERSION)
        return open_box(self.epochs[epoch].records, value[4:16], value[16:], associated, what), epoch

    def open_record(self, lookup, value):
        """A record whose names give the key under which it lies."""
        plaintext, epoch = self.open_value(value, lookup, "a record")
        record = Record(plaintext, epoch)
        if self.epochs[epoch].lookup(*record.raw_names) != lookup:
            raise Damaged("a record lies under a key that is not its own")
        return record

    def find(self, collection, name):
        for keys in self.epochs.values():
            lookup = keys.lookup(collection.encode(), name.encode())
            value = self.transaction.get(lookup)
            if value is not None:
                return self.open_record(lookup, value)
        raise NotFound("there is no record of this name")

    def records(self):
        """Every record that can be read, with its key; the others are reported."""
        for key in self.transaction.cursor(self.main_tree).iternext(values=False):
            if key not in (ROOT_KEY, RECORDS_TREE):
                self.report(f"an entry beside the root record is none of ours (key {key.hex()})")
        for lookup, value in self.transaction.cursor():
            try:
                if len(lookup) != 32:
                    raise Damaged("an entry has a key that no record has")
                yield lookup, self.open_record(lookup, value)
            except Damaged as failure:
                self.report(f"{failure} (key {lookup.hex()})")

    def report(self, words):
        self.damage += 1
        warn(words)

    def content(self, record):
        """The value piece by piece; each is genuine, an error in between means that the rest is not."""
        if record.kind != 1:
            yield record.content
            return
        key = blake3_keyed(self.epochs[record.epoch].files, record.file_key + record.file_id)
        chunks = max(1, -(-record.size // CHUNK))
        try:
            with open(os.path.join(self.home, "files", record.file_id.hex()), "rb") as file:
                if os.fstat(file.fileno()).st_size != len(FILE_MAGIC) + record.size + TAG * chunks:
                    raise Damaged("the file of a record has the wrong size")
                if file.read(len(FILE_MAGIC)) != FILE_MAGIC:
                    raise Damaged("the file of a record is not an encrypted file")
                for number in range(chunks):
                    nonce = number.to_bytes(11, "big") + bytes([number == chunks - 1])
                    yield open_box(key, nonce, file.read(CHUNK + TAG), None, "the file of a record")
        except OSError as error:
            raise Damaged(f"the file of a record cannot be read: {error.strerror}") from None


class OpenKeys(Keys):
    """The keys of the open compartment, all from the one in `open.key`."""

    def __init__(self, key):
        self.records = blake3_derive("holdfast/1/open-records", key)
        self.names = blake3_derive("holdfast/1/open-names", key)
        self.sum = blake3_derive("holdfast/1/record-sum", self.names)


def open_domain(vault):
    """Stands for the vault's id in the open compartment."""
    return blake3(b"holdfast/1/open" + vault)[:16]


class OpenCompartment(Vault):
    """What was written while the vault was locked (vault-format.md 20), read as a vault of its own."""

    def __init__(self, vault):
        with open(os.path.join(vault.home, "open.key"), "rb") as file:
            data = file.read(129)
        reader = Reader(data, "open.key")
        reader.check(len(data) == 128 and reader.take(8) == b"HFOPENKY" and blake3(data[:96]) == data[96:])
        reader.check(reader.integer(4) == 1 and reader.take(16) == vault.header.vault)
        state, key = reader.integer(4), reader.take(32)
        reader.check(state <= 1 and not any(data[64:96]))
        if state == 0:
            raise NotFound("the open compartment is empty")
        self.home, self.header, self.epochs, self.damage = vault.home, vault.header, {1: OpenKeys(key)}, 0
        self.open_trees("open.mdb")

    def domain(self):
        return open_domain(self.header.vault)

    def items(self):
        """Every item as it was written, those sealed to the vault opened."""
        for _, record in self.records():
            try:
                if record.kind == 2:
                    record = Record(open_sealed(self.header.vault, self.header.inbox_seeds, record.content), 0)
                    record.was_sealed = True
                yield record
            except Damaged as failure:
                self.report(str(failure))


# ---------------------------------------------------------------------------------------------------------------------
# Commands.


def warn(words):
    print(f"holdfast_decrypt: {words}", file=sys.stderr)


def show(description):
    print(json.dumps(description, ensure_ascii=True))


def list_records(vault):
    for _, record in vault.records():
        show(record.description())


def list_items(vault):
    for _, record in vault.records():
        if record.is_item:
            try:
                show({"collection": record.collection, "name": record.name, **parse_item(record.content)})
            except Damaged as failure:
                vault.report(f"{failure}: {record.collection!r} {record.name!r}")


def get(vault, collection, name):
    for piece in vault.content(vault.find(collection, name)):
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def open_items(vault):
    try:
        compartment = OpenCompartment(vault)
    except (FileNotFoundError, NotFound):
        return []
    vault.open = compartment
    return list(compartment.items())


def list_open(vault):
    for record in open_items(vault):
        show({**record.description(), "sealed": hasattr(record, "was_sealed")})
    vault.damage += vault.open.damage if hasattr(vault, "open") else 0


def get_open(vault, collection, name):
    for record in open_items(vault):
        if (record.collection, record.name) == (collection, name):
            sys.stdout.buffer.write(record.content)
            sys.stdout.buffer.flush()
            return
    raise NotFound("there is no item of this name")


def safe(name):
    """A file name from any text: letters, digits, and a few signs stay, other bytes become %XX."""
    kept = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
    result = "".join(chr(byte) if byte in kept else f"%{byte:02X}" for byte in name.encode())
    if result.startswith("."):
        result = "%2E" + result[1:]
    if len(result) > 200 or not result:
        result = result[:100] + "~" + hashlib.sha256(name.encode()).hexdigest()[:32]
    return result


def create_file(folder, name, record):
    """A new file; where a file system takes two names for one, the second gets a suffix."""
    try:
        return open(os.path.join(folder, name), "xb", opener=private)
    except FileExistsError:
        suffix = hashlib.sha256(b"\0".join(record.raw_names)).hexdigest()[:32]
        return open(os.path.join(folder, f"{name[:150]}~{suffix}"), "xb", opener=private)


def private(path, flags):
    return os.open(path, flags, 0o600)


def export(vault, target):
    home = os.path.realpath(vault.home)
    if os.path.commonpath([home, os.path.realpath(target)]) == home:
        raise Failure("the folder to export to lies in the vault; nothing was written")
    os.makedirs(target, mode=0o700, exist_ok=True)
    if os.listdir(target):
        raise Failure(f"{target} is not empty; nothing was written")
    for _, record in vault.records():
        folder = os.path.join(target, safe(record.collection))
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with create_file(folder, safe(record.name), record) as file:
            try:
                for piece in vault.content(record):
                    file.write(piece)
            except Damaged as failure:
                os.unlink(file.name)
                vault.report(f"{failure}: {record.collection!r} {record.name!r} was not exported")
                continue
        show({**record.description(), "path": os.path.relpath(file.name, target)})


def verify(vault):
    count, total, files = 0, 0, set()
    for lookup, record in vault.records():
        count += 1
        total += vault.epochs[record.epoch].term(lookup, record.sequence)
        if record.kind == 1:
            files.add(record.file_id.hex())
        try:
            size = sum(len(piece) for piece in vault.content(record))
            if size != record.size:
                raise Damaged("the file of a record has the wrong size")
            if record.is_item:
                parse_item(record.content)
        except Damaged as failure:
            vault.report(f"{failure}: {record.collection!r} {record.name!r}")
    if count != vault.count or total % 2**256 != vault.sum:
        vault.report("the records are not those that were written last: some are missing or older than they must be")
    orphans = set(os.listdir(os.path.join(vault.home, "files"))) - files
    show({
        "vault": vault.header.vault.hex(), "generation": vault.header.generation, "epochs": list(vault.epochs),
        "records": count, "expected": vault.count, "files": len(files), "orphans": len(orphans),
        "intact": vault.damage == 0, "belowFloor": any(slot.is_cheap for slot in vault.header.slots),
    })  # fmt: skip


def read_secret(descriptor, prompt):
    if descriptor is None:
        return getpass.getpass(prompt).encode()
    with os.fdopen(descriptor, "rb", buffering=0, closefd=False) as file:
        return file.readline(4096).removesuffix(b"\n")


def secret_for(arguments, header):
    """The kind of slot that the caller answers, and what gives its factor."""
    if arguments.share_fd is not None:
        digits = read_secret(arguments.share_fd, "").decode("ascii", "replace")
        try:
            share = bytes.fromhex(digits)
        except ValueError:
            share = b""
        if len(share) != 32:
            raise WrongSecret("a share is 64 hexadecimal digits")
        return DEVICE, lambda _: [share]
    if arguments.phrase or arguments.phrase_fd is not None:
        phrase = read_secret(arguments.phrase_fd, "Recovery phrase: ").decode("utf-8", "replace")
        entropy = entropy_of(phrase)
        return PHRASE, lambda _: [hkdf(header.vault, entropy, b"holdfast/1/recovery", 32)]
    forms = forms_of(read_secret(arguments.passcode_fd, "Passcode: "))
    return PASSCODE, lambda slot: (argon2id(form, slot.salt, *slot.costs) for form in forms)


def forms_of(passcode):
    """The composed form of a passcode, and the bytes as they were typed where those are others."""
    try:
        composed = unicodedata.normalize("NFC", passcode.decode()).encode()
    except UnicodeDecodeError:
        return [passcode]
    return [composed] if composed == passcode else [composed, passcode]


ROLES = {4: "leaving", 5: "coming", 6: "owed"}


def pending(home):
    """What `hardware.pending` says, or nothing; nobody has proved it."""
    try:
        with open(os.open(os.path.join(home, "hardware.pending"), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            data = file.read(16385)
    except FileNotFoundError:
        return None
    reader = Reader(data, "hardware.pending")
    reader.check(len(data) <= 16384 and reader.take(8) == b"HFPEND05")
    found, last = {"shares": 0, "anchors": 0, "move": None, "leaving": [], "coming": [], "owed": []}, 0
    # In the order of writers.
    while (kind := reader.integer(1)) != 7:
        reader.check(1 <= kind <= 6 and kind >= last and (kind, last) != (3, 3))
        part, last = reader.counted(16384), kind
        if kind == 1:
            reader.counted(16384)
            found["shares"] += 1
        elif kind == 2:
            reader.check(len(part) == 48)
            found["anchors"] += 1
        elif kind == 3:
            reader.check(len(part) == 2 and max(part) < len(LEVELS))
            found["move"] = [LEVELS[level] for level in part]
        else:
            reader.check(part)
            item = ShareItem(part[0], part[1:])
            found[ROLES[kind]].append({"store": STORE_NAMES[item.store], "name": item.name.hex()})
    tags = reader.counted(64)
    reader.check(len(tags) % 32 == 0 and not reader.rest())
    return {**found, "tags": len(tags) // 32}


def describe(home):
    """What can be told without a secret. Nothing of it is proved."""
    header = read_header(home)
    slots = []
    for slot in header.slots:
        share = None
        if slot.share:
            own = is_own_share(slot.share.name, header.vault, header.home)
            share = {"store": STORE_NAMES[slot.share.store], "name": slot.share.name.hex(), "own": own}
        slots.append({"kind": KIND_NAMES.get(slot.kind, f"unknown-{slot.kind}"), "share": share})
    print(json.dumps({"vault": header.vault.hex(), "level": header.level, "slots": slots, "pending": pending(home)}))


def open_vault(arguments):
    header = read_header(arguments.home)
    return Vault(arguments.home, header, unlock(header, *secret_for(arguments, header)))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n", 1)[1], add_help=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--passcode-fd", type=int)
    parser.add_argument("--phrase", action="store_true")
    parser.add_argument("--phrase-fd", type=int)
    parser.add_argument("--share-fd", type=int)
    parser.add_argument("home", nargs="?")
    parser.add_argument("command", nargs="?")
    parser.add_argument("operands", nargs="*")
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__.strip())
        return 0
    commands = {"list": (list_records, 0), "get": (get, 2), "export": (export, 1), "verify": (verify, 0),
                "items": (list_items, 0), "open": (list_open, 0), "open-get": (get_open, 2),
                "describe": (describe, 0)}  # fmt: skip
    command, operands = commands.get(arguments.command, (None, 0))
    if command is None or len(arguments.operands) != operands:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        if command is describe:
            describe(arguments.home)
            return 0
        vault = open_vault(arguments)
        command(vault, *arguments.operands)
    except Failure as failure:
        warn(failure)
        return failure.status
    except lmdb.Error as error:
        warn(f"vault.mdb: {error}")
        return Damaged.status
    except OSError as error:
        warn(error)
        return Failure.status
    return 5 if vault.damage else 0


# ---------------------------------------------------------------------------------------------------------------------
# BIP-39's English word list.

WORDS = """
    abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid
    acoustic acquire across act action actor actress actual adapt add addict address adjust admit adult advance advice
    aerobic affair afford afraid again age agent agree ahead aim air airport aisle alarm album alcohol alert alien all
    alley allow almost alone alpha already also alter always amateur amazing among amount amused analyst anchor ancient
    anger angle angry animal ankle announce annual another answer antenna antique anxiety any apart apology appear
    apple approve april arch arctic area arena argue arm armed armor army around arrange arrest arrive arrow art
    artefact artist artwork ask aspect assault asset assist assume asthma athlete atom attack attend attitude attract
    auction audit august aunt author auto autumn average avocado avoid awake aware away awesome awful awkward axis baby
    bachelor bacon badge bag balance balcony ball bamboo banana banner bar barely bargain barrel base basic basket
    battle beach bean beauty because become beef before begin behave behind believe below belt bench benefit best
    betray better between beyond bicycle bid bike bind biology bird birth bitter black blade blame blanket blast bleak
    bless blind blood blossom blouse blue blur blush board boat body boil bomb bone bonus book boost border boring
    borrow boss bottom bounce box boy bracket brain brand brass brave bread breeze brick bridge brief bright bring
    brisk broccoli broken bronze broom brother brown brush bubble buddy budget buffalo build bulb bulk bullet bundle
    bunker burden burger burst bus business busy butter buyer buzz cabbage cabin cable cactus cage cake call calm
    camera camp can canal cancel candy cannon canoe canvas canyon capable capital captain car carbon card cargo carpet
    carry cart case cash casino castle casual cat catalog catch category cattle caught cause caution cave ceiling
    celery cement census century cereal certain chair chalk champion change chaos chapter charge chase chat cheap check
    cheese chef cherry chest chicken chief child chimney choice choose chronic chuckle chunk churn cigar cinnamon
    circle citizen city civil claim clap clarify claw clay clean clerk clever click client cliff climb clinic clip
    clock clog close cloth cloud clown club clump cluster clutch coach coast coconut code coffee coil coin collect
    color column combine come comfort comic common company concert conduct confirm congress connect consider control
    convince cook cool copper copy coral core corn correct cost cotton couch country couple course cousin cover coyote
    crack cradle craft cram crane crash crater crawl crazy cream credit creek crew cricket crime crisp critic crop
    cross crouch crowd crucial cruel cruise crumble crunch crush cry crystal cube culture cup cupboard curious current
    curtain curve cushion custom cute cycle dad damage damp dance danger daring dash daughter dawn day deal debate
    debris decade december decide decline decorate decrease deer defense define defy degree delay deliver demand demise
    denial dentist deny depart depend deposit depth deputy derive describe desert design desk despair destroy detail
    detect develop device devote diagram dial diamond diary dice diesel diet differ digital dignity dilemma dinner
    dinosaur direct dirt disagree discover disease dish dismiss disorder display distance divert divide divorce dizzy
    doctor document dog doll dolphin domain donate donkey donor door dose double dove draft dragon drama drastic draw
    dream dress drift drill drink drip drive drop drum dry duck dumb dune during dust dutch duty dwarf dynamic eager
    eagle early earn earth easily east easy echo ecology economy edge edit educate effort egg eight either elbow elder
    electric elegant element elephant elevator elite else embark embody embrace emerge emotion employ empower empty
    enable enact end endless endorse enemy energy enforce engage engine enhance enjoy enlist enough enrich enroll
    ensure enter entire entry envelope episode equal equip era erase erode erosion error erupt escape essay essence
    estate eternal ethics evidence evil evoke evolve exact example excess exchange excite exclude excuse execute
    exercise exhaust exhibit exile exist exit exotic expand expect expire explain expose express extend extra eye
    eyebrow fabric face faculty fade faint faith fall false fame family famous fan fancy fantasy farm fashion fat fatal
    father fatigue fault favorite feature february federal fee feed feel female fence festival fetch fever few fiber
    fiction field figure file film filter final find fine finger finish fire firm first fiscal fish fit fitness fix
    flag flame flash flat flavor flee flight flip float flock floor flower fluid flush fly foam focus fog foil fold
    follow food foot force forest forget fork fortune forum forward fossil foster found fox fragile frame frequent
    fresh friend fringe frog front frost frown frozen fruit fuel fun funny furnace fury future gadget gain galaxy
    gallery game gap garage garbage garden garlic garment gas gasp gate gather gauge gaze general genius genre gentle
    genuine gesture ghost giant gift giggle ginger giraffe girl give glad glance glare glass glide glimpse globe gloom
    glory glove glow glue goat goddess gold good goose gorilla gospel gossip govern gown grab grace grain grant grape
    grass gravity great green grid grief grit grocery group grow grunt guard guess guide guilt guitar gun gym habit
    hair half hammer hamster hand happy harbor hard harsh harvest hat have hawk hazard head health heart heavy hedgehog
    height hello helmet help hen hero hidden high hill hint hip hire history hobby hockey hold hole holiday hollow home
    honey hood hope horn horror horse hospital host hotel hour hover hub huge human humble humor hundred hungry hunt
    hurdle hurry hurt husband hybrid ice icon idea identify idle ignore ill illegal illness image imitate immense
    immune impact impose improve impulse inch include income increase index indicate indoor industry infant inflict
    inform inhale inherit initial inject injury inmate inner innocent input inquiry insane insect inside inspire
    install intact interest into invest invite involve iron island isolate issue item ivory jacket jaguar jar jazz
    jealous jeans jelly jewel job join joke journey joy judge juice jump jungle junior junk just kangaroo keen keep
    ketchup key kick kid kidney kind kingdom kiss kit kitchen kite kitten kiwi knee knife knock know lab label labor
    ladder lady lake lamp language laptop large later latin laugh laundry lava law lawn lawsuit layer lazy leader leaf
    learn leave lecture left leg legal legend leisure lemon lend length lens leopard lesson letter level liar liberty
    library license life lift light like limb limit link lion liquid list little live lizard load loan lobster local
    lock logic lonely long loop lottery loud lounge love loyal lucky luggage lumber lunar lunch luxury lyrics machine
    mad magic magnet maid mail main major make mammal man manage mandate mango mansion manual maple marble march margin
    marine market marriage mask mass master match material math matrix matter maximum maze meadow mean measure meat
    mechanic medal media melody melt member memory mention menu mercy merge merit merry mesh message metal method
    middle midnight milk million mimic mind minimum minor minute miracle mirror misery miss mistake mix mixed mixture
    mobile model modify mom moment monitor monkey monster month moon moral more morning mosquito mother motion motor
    mountain mouse move movie much muffin mule multiply muscle museum mushroom music must mutual myself mystery myth
    naive name napkin narrow nasty nation nature near neck need negative neglect neither nephew nerve nest net network
    neutral never news next nice night noble noise nominee noodle normal north nose notable note nothing notice novel
    now nuclear number nurse nut oak obey object oblige obscure observe obtain obvious occur ocean october odor off
    offer office often oil okay old olive olympic omit once one onion online only open opera opinion oppose option
    orange orbit orchard order ordinary organ orient original orphan ostrich other outdoor outer output outside oval
    oven over own owner oxygen oyster ozone pact paddle page pair palace palm panda panel panic panther paper parade
    parent park parrot party pass patch path patient patrol pattern pause pave payment peace peanut pear peasant
    pelican pen penalty pencil people pepper perfect permit person pet phone photo phrase physical piano picnic picture
    piece pig pigeon pill pilot pink pioneer pipe pistol pitch pizza place planet plastic plate play please pledge
    pluck plug plunge poem poet point polar pole police pond pony pool popular portion position possible post potato
    pottery poverty powder power practice praise predict prefer prepare present pretty prevent price pride primary
    print priority prison private prize problem process produce profit program project promote proof property prosper
    protect proud provide public pudding pull pulp pulse pumpkin punch pupil puppy purchase purity purpose purse push
    put puzzle pyramid quality quantum quarter question quick quit quiz quote rabbit raccoon race rack radar radio rail
    rain raise rally ramp ranch random range rapid rare rate rather raven raw razor ready real reason rebel rebuild
    recall receive recipe record recycle reduce reflect reform refuse region regret regular reject relax release relief
    rely remain remember remind remove render renew rent reopen repair repeat replace report require rescue resemble
    resist resource response result retire retreat return reunion reveal review reward rhythm rib ribbon rice rich ride
    ridge rifle right rigid ring riot ripple risk ritual rival river road roast robot robust rocket romance roof rookie
    room rose rotate rough round route royal rubber rude rug rule run runway rural sad saddle sadness safe sail salad
    salmon salon salt salute same sample sand satisfy satoshi sauce sausage save say scale scan scare scatter scene
    scheme school science scissors scorpion scout scrap screen script scrub sea search season seat second secret
    section security seed seek segment select sell seminar senior sense sentence series service session settle setup
    seven shadow shaft shallow share shed shell sheriff shield shift shine ship shiver shock shoe shoot shop short
    shoulder shove shrimp shrug shuffle shy sibling sick side siege sight sign silent silk silly silver similar simple
    since sing siren sister situate six size skate sketch ski skill skin skirt skull slab slam sleep slender slice
    slide slight slim slogan slot slow slush small smart smile smoke smooth snack snake snap sniff snow soap soccer
    social sock soda soft solar soldier solid solution solve someone song soon sorry sort soul sound soup source south
    space spare spatial spawn speak special speed spell spend sphere spice spider spike spin spirit split spoil sponsor
    spoon sport spot spray spread spring spy square squeeze squirrel stable stadium staff stage stairs stamp stand
    start state stay steak steel stem step stereo stick still sting stock stomach stone stool story stove strategy
    street strike strong struggle student stuff stumble style subject submit subway success such sudden suffer sugar
    suggest suit summer sun sunny sunset super supply supreme sure surface surge surprise surround survey suspect
    sustain swallow swamp swap swarm swear sweet swift swim swing switch sword symbol symptom syrup system table tackle
    tag tail talent talk tank tape target task taste tattoo taxi teach team tell ten tenant tennis tent term test text
    thank that theme then theory there they thing this thought three thrive throw thumb thunder ticket tide tiger tilt
    timber time tiny tip tired tissue title toast tobacco today toddler toe together toilet token tomato tomorrow tone
    tongue tonight tool tooth top topic topple torch tornado tortoise toss total tourist toward tower town toy track
    trade traffic tragic train transfer trap trash travel tray treat tree trend trial tribe trick trigger trim trip
    trophy trouble truck true truly trumpet trust truth try tube tuition tumble tuna tunnel turkey turn turtle twelve
    twenty twice twin twist two type typical ugly umbrella unable unaware uncle uncover under undo unfair unfold
    unhappy uniform unique unit universe unknown unlock until unusual unveil update upgrade uphold upon upper upset
    urban urge usage use used useful useless usual utility vacant vacuum vague valid valley valve van vanish vapor
    various vast vault vehicle velvet vendor venture venue verb verify version very vessel veteran viable vibrant
    vicious victory video view village vintage violin virtual virus visa visit visual vital vivid vocal voice void
    volcano volume vote voyage wage wagon wait walk wall walnut want warfare warm warrior wash wasp waste water wave
    way wealth weapon wear weasel weather web wedding weekend weird welcome west wet whale what wheat wheel when where
    whip whisper wide width wife wild will win window wine wing wink winner winter wire wisdom wise wish witness wolf
    woman wonder wood wool word work world worry worth wrap wreck wrestle wrist write wrong yard year yellow you young
    youth zebra zero zone zoo
""".split()

if __name__ == "__main__":
    sys.exit(main())
