#!/usr/bin/env python3
"""A made-up version 2 of the vault's format, and the program that brings a home of version 1 to it while the vault is in
use (Docs/vault-format.md 16). For MigrationTrialTests: no release reads what this writes.

    version_2.py [OPTION] HOME step                   one step, by what the home shows
    version_2.py [OPTION] HOME each                   every step that is left, one after the other
    version_2.py [OPTION] HOME rest                   the same, which only tells of the end
    version_2.py [OPTION] HOME read                   every value, as JSON, from a home of either version
    version_2.py [OPTION] HOME put COLLECTION NAME    a value from standard input, in a home of version 2

The secret is a line on descriptor 3: the phrase, or with --passcode the passcode. After each step its name and what can be
read are printed, as JSON. Options of a step: --backup names the backup, which --program, the one of version 1, brings up to
date before the header rises; --die kills this program at a point within the step.

What version 2 has, so that every part of version 1 has to change: F is 2 in all authenticated data; the header names the
last epoch of version 1, and for each slot the version that wrapped it; each key of the keybag has a version; a record has
the time when it expires; a chunk of a file authenticates F; the log's files and those of the open compartment have version 2
in their fronts.
"""

import argparse
import errno
import fcntl
import hashlib
import hmac
import importlib.util
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys

import lmdb
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

sys.dont_write_bytecode = True


def load(name):
    path = pathlib.Path(__file__).resolve().parents[2] / "scripts" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


one = load("holdfast_decrypt")
log_of_one = load("holdfast_log_verify")
VERSIONS = {version: struct.pack("<I", version) for version in (1, 2)}
ALL_KINDS = (one.RECORDS, one.NAMES, one.FILES, one.LOG, one.IDENTITY, one.INBOX)
FILE_MAGIC = b"HFFILE\0\2"
NEVER = bytes(8)
SLOTS = 192


def sealed(key, associated, plaintext):
    nonce = os.urandom(12)
    return nonce + AESGCM(key).encrypt(nonce, plaintext, associated)


def summed(data, size):
    data = data.ljust(size - 32, b"\0")
    return data + one.blake3(data)


def counted(data):
    return struct.pack("<H", len(data)) + data


def remembering(*arguments, **options):
    """As `lmdb.open`. Nothing is opened twice in one process, so all is closed after each step."""
    environment = OPEN_DATABASE(*arguments, **options)
    ENVIRONMENTS.append(environment)
    return environment


ENVIRONMENTS, OPEN_DATABASE, lmdb.open = [], lmdb.open, remembering


def close_databases():
    while ENVIRONMENTS:
        ENVIRONMENTS.pop().close()


def die_at(point):
    if OPTIONS.die == point:
        os.kill(os.getpid(), signal.SIGKILL)


class Locked:
    """A file under its exclusive lock; the name must lead to what was locked."""

    def __init__(self, home, name, flags=os.O_RDWR):
        path = os.path.join(home, name)
        while True:
            self.file = os.open(path, flags)
            fcntl.flock(self.file, fcntl.LOCK_EX)
            if os.path.samestat(os.stat(path), os.fstat(self.file)):
                return
            os.close(self.file)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.file)

    def write(self, data, offset):
        os.pwrite(self.file, data, offset)
        os.fdatasync(self.file)


def flush_folder(path):
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(folder)
    os.close(folder)


def replace(home, name, data):
    """A file that is whole under its name, or not there."""
    part = os.path.join(home, f".{name}.part")
    with open(part, "wb", opener=one.private) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.rename(part, os.path.join(home, name))
    flush_folder(home)


# ---------------------------------------------------------------------------------------------------------------------
# Header and keybag.


class Header:
    """A header of version 2. What it shares with version 1 has its names there."""

    version = 2

    def __init__(self, copy):
        reader = one.Reader(copy, "the header")
        reader.check(reader.take(8) == b"HOLDFAST" and reader.integer(4) == 2)
        self.anchored, _, self.vault = reader.integer(2), reader.integer(2), reader.take(16)
        self.generation, self.created, self.epoch, self.last_old = (reader.integer(size) for size in (8, 8, 4, 4))
        self.policy, self.sealed_keybag = reader.counted(2048), reader.counted(4096)
        self.policy_digest = one.blake3(self.policy)
        self.slots = []
        for _ in range(reader.integer(1)):
            wrapped_by = reader.integer(1)
            self.slots.append(Slot(reader.counted(one.COPY_SIZE), wrapped_by))
        self.sealed_wipe_key, self.home = copy[-156:-96], copy[-96:-64]
        self.covered, self.mac = copy[:-64], copy[-64:-32]

    slot = one.Header.slot


def version_of(header, epoch):
    """The version that seals what is under the keys of an epoch."""
    return 1 if epoch <= header.last_old else 2


class Slot(one.Slot):
    def __init__(self, data, wrapped_by):
        super().__init__(data)
        self.data, self.wrapped_by = data, wrapped_by


def read_header(home):
    """The header of either version, and whether its second copy has yet to follow the first."""
    with open(os.path.join(home, "header"), "rb") as file:
        data = file.read(2 * one.COPY_SIZE)
    first, second = data[: one.COPY_SIZE], data[one.COPY_SIZE :]
    for copy in (first, second):
        if copy[:12] == b"HOLDFAST" + VERSIONS[2] and one.blake3(copy[:-32]) == copy[-32:]:
            return Header(copy), first != second
    header = one.read_header(home)
    copy = header.covered + header.mac
    header.version, header.last_old = 1, header.epoch
    reader = one.Reader(copy, "the header")
    reader.take(52)
    header.policy = reader.counted(2048)
    reader.counted(4096)
    header.slots = [Slot(reader.counted(one.COPY_SIZE), 1) for _ in range(reader.integer(1))]
    header.sealed_wipe_key = copy[-124:-64]
    return header, False


def write_header(file, header, master, keybag):
    """Both copies in place, the first one first, with the generation one higher."""
    keybag_key = one.hkdf(header.vault, master, b"holdfast/1/keybag", 32)
    bag = struct.pack("<BH", 2, len(keybag))
    for (kind, epoch), key in keybag.items():
        bag += struct.pack("<BIB", kind, epoch, version_of(header, epoch)) + key
    associated = header.vault + b"keybag" + VERSIONS[2] + struct.pack("<I", header.epoch)
    header.generation += 1
    front = b"HOLDFAST" + VERSIONS[2] + struct.pack("<HH", header.anchored, 0) + header.vault
    front += struct.pack("<QQII", header.generation, header.created, header.epoch, header.last_old)
    front += counted(header.policy) + counted(sealed(keybag_key, associated, bag)) + bytes([len(header.slots)])
    for slot in header.slots:
        front += bytes([slot.wrapped_by]) + counted(slot.data)
    covered = front.ljust(one.COPY_SIZE - 156, b"\0") + header.sealed_wipe_key + header.home
    assert len(covered) == one.COPY_SIZE - 64
    copy = covered + hmac.digest(one.hkdf(header.vault, master, b"holdfast/1/header-mac", 32), covered, "sha256")
    copy += one.blake3(copy)
    file.write(copy, 0)
    die_at("first copy")
    file.write(copy, one.COPY_SIZE)


def slot_key(header, slot, given):
    info = b"holdfast/1/slot/" + one.KIND_NAMES[slot.kind].encode()
    return one.hkdf(slot.salt, bytes(32) + given, info, 64)


def associated_of_slot(header, slot, version):
    digest = header.policy_digest if slot.flags & one.BINDS_POLICY else bytes(32)
    return header.vault + VERSIONS[version] + slot.parameters + digest


def unlock(header):
    """The master key, the keys by kind and epoch, and the key that the secret's slot is wrapped with."""
    if OPTIONS.passcode:
        kind, forms = one.PASSCODE, one.forms_of(SECRET)
        slot = header.slot(kind)
        factors = (one.argon2id(form, slot.salt, *slot.costs) for form in forms)
    else:
        kind, slot = one.PHRASE, header.slot(one.PHRASE)
        factors = [one.hkdf(header.vault, one.entropy_of(SECRET.decode()), b"holdfast/1/recovery", 32)]
    for factor in factors:
        both = slot_key(header, slot, factor)
        if both[32:] == slot.commitment:
            break
    else:
        raise one.WrongSecret(one.WRONG[kind])
    associated = associated_of_slot(header, slot, slot.wrapped_by)
    master = one.open_box(both[:32], slot.nonce, slot.wrapped, associated, "the slot")
    mac_key = one.hkdf(header.vault, master, b"holdfast/1/header-mac", 32)
    if hmac.digest(mac_key, header.covered, "sha256") != header.mac:
        raise one.Damaged("the header was changed")
    box = header.sealed_keybag
    associated = header.vault + b"keybag" + VERSIONS[header.version] + struct.pack("<I", header.epoch)
    key = one.hkdf(header.vault, master, b"holdfast/1/keybag", 32)
    reader = one.Reader(one.open_box(key, box[:12], box[12:], associated, "the keybag"), "the keybag")
    reader.check(reader.integer(1) == header.version)
    keybag = {}
    for _ in range(reader.integer(2)):
        kind, epoch = reader.integer(1), reader.integer(4)
        reader.check(header.version == 1 or reader.integer(1) == version_of(header, epoch))
        keybag[kind, epoch] = reader.take(32)
    reader.check(not reader.rest())
    return master, keybag, (slot, both[:32])


# ---------------------------------------------------------------------------------------------------------------------
# Records.


class Store(one.Vault):
    """The records of a home of either version; what it reads tells by its epoch of which one it is."""

    def __init__(self, home, header, keybag):
        epochs = sorted((epoch for kind, epoch in keybag if kind == one.RECORDS), reverse=True)
        header.inbox_seeds = {epoch: key for (kind, epoch), key in keybag.items() if kind == one.INBOX}
        super().__init__(home, header, {epoch: one.Keys(keybag, epoch) for epoch in epochs})

    def open_trees(self, name):
        path = os.path.join(self.home, name)
        self.environment = lmdb.open(path, subdir=False, create=False, max_dbs=1, map_size=64 << 20, mode=0o600)
        self.main_tree = self.environment.open_db(None)
        self.records_tree = self.environment.open_db(one.RECORDS_TREE, create=False)
        self.transaction = self.environment.begin(self.records_tree)

    def open_value(self, value, lookup, what):
        epoch = int.from_bytes(value[:4], "little")
        if epoch not in self.epochs:
            raise one.Damaged(f"{what} is under epoch {epoch}")
        associated = self.domain() + value[:4] + lookup + VERSIONS[version_of(self.header, epoch)]
        return one.open_box(self.epochs[epoch].records, value[4:16], value[16:], associated, what), epoch

    def open_record(self, lookup, value):
        plaintext, epoch = self.open_value(value, lookup, "a record")
        if version_of(self.header, epoch) == 2:
            assert plaintext[0] == 2 and plaintext[32:40] == NEVER
            plaintext = b"\1" + plaintext[1:32] + plaintext[40:]
        record = one.Record(plaintext, epoch)
        assert self.epochs[epoch].lookup(*record.raw_names) == lookup
        record.plaintext = plaintext
        return record

    def content(self, record):
        if record.kind != 1 or version_of(self.header, record.epoch) == 1:
            yield from super().content(record)
            return
        key = one.blake3_keyed(self.epochs[record.epoch].files, record.file_key + record.file_id)
        with open(os.path.join(self.home, "files", record.file_id.hex()), "rb") as file:
            assert file.read(8) == FILE_MAGIC
            chunks = max(1, -(-record.size // one.CHUNK))
            for number in range(chunks):
                nonce = number.to_bytes(11, "big") + bytes([number == chunks - 1])
                yield one.open_box(key, nonce, file.read(one.CHUNK + one.TAG), VERSIONS[2], "a file")

    @property
    def root_epoch(self):
        return int.from_bytes(self.transaction.get(one.ROOT_KEY, db=self.main_tree)[:4], "little")


class Writer:
    """One transaction of version 2, which writes the root record under the newest epoch."""

    def __init__(self, store):
        self.store, self.keys = store, store.epochs[store.header.epoch]
        self.released = []

    def __enter__(self):
        store = self.store
        self.lock = Locked(store.home, "vault.mdb", os.O_RDONLY)
        store.transaction = self.transaction = store.environment.begin(store.records_tree, write=True)
        root = self.transaction.get(one.ROOT_KEY, db=store.main_tree)
        plaintext, epoch = store.open_value(root[:-8], one.ROOT_LOOKUP, "the root record")
        self.count, self.next = struct.unpack("<QQ", plaintext[:16])
        self.sum = int.from_bytes(plaintext[16:48], "little")
        number, self.seals = struct.unpack("<QQ", plaintext[48:64])
        assert number == self.transaction.id() - 1, "the database is not as its last writer left it"
        self.mark = plaintext[64:]
        if epoch != store.header.epoch:
            self.seals = 0
        return self

    def remove(self, lookup, record):
        self.sum -= self.store.epochs[record.epoch].term(lookup, record.sequence)
        self.count -= 1
        assert self.transaction.delete(lookup)
        if record.kind == 1:
            self.released.append(record.file_id.hex())

    def add(self, plaintext):
        """A record of version 1's layout, under the newest keys and with the next sequence number."""
        record = one.Record(plaintext, self.store.header.epoch)
        lookup = self.keys.lookup(*record.raw_names)
        body = b"\2" + plaintext[1:8] + struct.pack("<Q", self.next) + plaintext[16:32] + NEVER + plaintext[32:]
        self.put(lookup, one.RECORDS_TREE, body)
        self.sum += self.keys.term(lookup, self.next)
        self.count, self.next, self.seals = self.count + 1, self.next + 1, self.seals + 1

    def put(self, lookup, tree, plaintext, behind=b""):
        epoch = struct.pack("<I", self.store.header.epoch)
        associated = self.store.domain() + epoch + lookup + VERSIONS[2]
        value = epoch + sealed(self.keys.records, associated, plaintext) + behind
        is_root = tree == one.ROOT_KEY
        self.transaction.put(
            one.ROOT_KEY if is_root else lookup, value, db=self.store.main_tree if is_root else self.store.records_tree
        )

    def commit(self):
        number = struct.pack("<Q", self.transaction.id())
        plaintext = struct.pack("<QQ", self.count, self.next) + (self.sum % 2**256).to_bytes(32, "little")
        plaintext += number + struct.pack("<Q", self.seals + 1) + self.mark
        self.put(one.ROOT_LOOKUP, one.ROOT_KEY, plaintext, number)
        self.transaction.commit()

    def __exit__(self, *error):
        if error[0]:
            self.transaction.abort()
        self.store.transaction = self.store.environment.begin(self.store.records_tree)
        self.lock.__exit__()


def encrypt_file(store, record):
    """The content of a record's file once more, as version 2 has it.

    Gives the new descriptor, and the file, which is locked until its record is stored.
    """
    keys, file_id, file_key = store.epochs[store.header.epoch], os.urandom(16), os.urandom(32)
    key = one.blake3_keyed(keys.files, file_key + file_id)
    folder = os.path.join(store.home, "files")
    part, name = (os.path.join(folder, prefix + file_id.hex()) for prefix in (".part-", ""))
    pieces = list(store.content(record))
    file = open(part, "xb", opener=one.private)
    fcntl.flock(file, fcntl.LOCK_EX)
    file.write(FILE_MAGIC)
    for number, piece in enumerate(pieces):
        nonce = number.to_bytes(11, "big") + bytes([number == len(pieces) - 1])
        file.write(AESGCM(key).encrypt(nonce, piece, VERSIONS[2]))
    file.flush()
    os.fsync(file.fileno())
    os.rename(part, name)
    flush_folder(folder)
    return file_id + struct.pack("<Q", record.size) + file_key, file


def remove_files(home, names):
    """Not while a backup copies them: they are leftovers then."""
    folder = os.open(os.path.join(home, "files"), os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for name in names:
            os.unlink(os.path.join(home, "files", name))
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.ENOENT):
            raise
    finally:
        os.close(folder)


# ---------------------------------------------------------------------------------------------------------------------
# The steps.


def check_backup(store):
    """The way back has to be there, to open with this secret, and to have every value that the vault has now."""
    folder = OPTIONS.backup
    if OPTIONS.program:
        # Nothing can be written any more, and what was copied before is not copied again.
        subprocess.run([OPTIONS.program, "backup", folder, "--home", store.home], check=True, stdout=subprocess.DEVNULL)
    if not folder or not os.path.exists(os.path.join(folder, "backup.manifest")):
        raise one.Failure("make a backup with the program of version 1, and name it with --backup; nothing was changed")
    header, _ = read_header(folder)
    _, keybag, _ = unlock(header)
    backup = one.Vault(folder, header, {epoch: one.Keys(keybag, epoch) for kind, epoch in keybag if kind == one.RECORDS})

    def values(of):
        return {(lookup, record.sequence, sum(map(len, of.content(record)))) for lookup, record in of.records()}

    if header.vault != store.header.vault or values(backup) != values(store) or backup.damage or store.damage:
        raise one.Failure("the backup is not what the vault has now; make another one; nothing was changed")


def rise(home):
    """The one step that a program of version 1 sees: afterwards it refuses the vault."""
    with Locked(home, "header") as file:
        header, _ = read_header(home)
        for name in ("hardware.pending", "backup.manifest", ".creating"):
            if os.path.lexists(os.path.join(home, name)):
                raise one.Failure(f"{name} is there; nothing was changed")
        master, keybag, (slot, wrapping) = unlock(header)
        store = Store(home, header, keybag)
        # Whoever writes has the lock on the database: nothing is written between the two of header and root record.
        with Writer(store) as writer:
            check_backup(store)
            header.last_old, header.epoch = header.epoch, header.epoch + 1
            keybag.update({(kind, header.epoch): os.urandom(32) for kind in ALL_KINDS})
            # Of the other slots the wrapping key is not known: they stay as version 1 has wrapped them.
            front = slot.parameters + slot.commitment
            slot.data = front + sealed(wrapping, associated_of_slot(header, slot, 2), master)
            slot.wrapped_by = 2
            keybag_key = one.hkdf(header.vault, master, b"holdfast/1/keybag", 32)
            if any(header.sealed_wipe_key):
                box, associated = header.sealed_wipe_key, header.vault + b"wipe key"
                key = one.open_box(keybag_key, box[:12], box[12:], associated + VERSIONS[1], "the wipe key")
                header.sealed_wipe_key = sealed(keybag_key, associated + VERSIONS[2], key)
            write_header(file, header, master, keybag)
            die_at("header")
            store.epochs[header.epoch] = writer.keys = one.Keys(keybag, header.epoch)
            writer.seals = 0
            writer.commit()
    return "header"


def move(store):
    """One record, in its own transaction."""
    lookup, record = outdated(store)
    plaintext, file = record.plaintext, None
    if record.kind == 1:
        descriptor, file = encrypt_file(store, record)
        plaintext = plaintext[:-56] + descriptor
        die_at("file")
    with Writer(store) as writer:
        found = writer.transaction.get(lookup)
        # Replaced or removed meanwhile: nothing to move.
        if found is None or store.open_record(lookup, found).sequence != record.sequence:
            writer.released = [plaintext[-56:-40].hex()] if record.kind == 1 else []
        else:
            writer.remove(lookup, record)
            writer.add(plaintext)
        die_at("record")
        writer.commit()
    if file:
        file.close()
        die_at("old file")
    remove_files(store.home, writer.released)
    return "record"


def outdated(store):
    return next((pair for pair in store.records() if pair[1].epoch <= store.header.last_old), None)


def front_version(home, name):
    """The version in a front; nothing where the file is not there or is empty."""
    try:
        with open(os.path.join(home, name), "rb") as file:
            data = file.read(12)
    except FileNotFoundError:
        return None
    return int.from_bytes(data[8:12], "little") if len(data) == 12 else None


def waiting(store):
    """What waits in a compartment of version 1."""
    if front_version(store.home, "open.key") != 1:
        return []
    try:
        return list(one.OpenCompartment(store).items())
    except (FileNotFoundError, one.NotFound):
        return []


def take_in(store, keybag):
    """Items of version 1 become records; then the compartment is begun anew as version 2 has it."""
    home, header = store.home, store.header
    with Locked(home, "open.key", os.O_RDWR | os.O_CREAT) as file:
        taken = {(record.label["name"], record.created, record.content) for _, record in store.records() if record.label}
        with Writer(store) as writer:
            for number, item in enumerate(waiting(store)):
                # Killed before the key was erased: it was taken in already.
                if (item.name, item.created, item.content) in taken:
                    continue
                label = bytes([hasattr(item, "was_sealed")]) + counted(item.raw_names[0]) + counted(item.raw_names[1])
                names = b"inbox", b"item %d" % number
                front = struct.pack("<BBBBHHQqq", 1, 3, 1, 0, *map(len, names), 0, item.created, item.modified)
                writer.add(front + b"".join(names) + label + item.content)
            writer.commit()
        die_at("open")
        os.ftruncate(file.file, 128)
        file.write(summed(b"HFOPENKY" + VERSIONS[2] + header.vault, 128), 0)
        for name in ("open.mdb", "open.mdb-lock"):
            pathlib.Path(home, name).unlink(missing_ok=True)
    die_at("open.pub")
    seed = keybag[one.INBOX, header.epoch]
    front = header.vault + struct.pack("<I", header.epoch) + one.compressed(one.private_key(header.vault, seed)) + bytes(3)
    tag = one.blake3_keyed(one.blake3_derive("holdfast/1/inbox-public", seed), front[:-3])
    replace(home, "open.pub", summed(b"HFOPENPK" + VERSIONS[2] + front + tag, 160))
    return "open"


def begin_log(home, header, keybag):
    """A new chain under the new key. The older entries stay as they are, and are read by the older key."""
    root = keybag[one.LOG, header.epoch]
    private = one.private_key(header.vault, root, b"holdfast/1/log-scalar")
    with Locked(home, "log.state") as file:
        chain = os.urandom(16)
        front = summed(b"HFSECLOG" + VERSIONS[2] + header.vault + chain + struct.pack("<QI", 0, header.epoch), SLOTS)
        plaintext = struct.pack("<BBqQ", 2, 1, 0, 0).ljust(119, b"\0")
        ephemeral = ec.generate_private_key(ec.SECP256R1())
        point = one.compressed(ephemeral)
        shared = ephemeral.exchange(ec.ECDH(), private.public_key())
        key, nonce = one.sealed_key(header.vault, shared, point, one.compressed(private))
        associated = header.vault + chain + struct.pack("<Q", 0) + VERSIONS[2]
        box = point + AESGCM(key).encrypt(nonce, plaintext, associated)
        first = one.blake3_keyed(root, b"holdfast/1/log-chain" + header.vault + chain)
        tag = one.blake3_keyed(one.blake3_keyed(first, b"holdfast/1/log-entry"), associated + box)[:16]
        replace(home, "log.new", front + struct.pack("<Q", 0) + box + tag)
        die_at("log")
        sector = b"HFLOGKEY" + VERSIONS[2] + VERSIONS[1] + header.vault + chain + struct.pack("<QQ", 0, 1)
        sector += log_of_one.following(first) + tag
        for offset in (0, 4096):
            file.write(summed(sector, 512), offset)
        die_at("log.state")
    return "log"


def rename_log(home):
    with Locked(home, "log.state"):
        if front_version(home, "log") == 1:
            os.rename(os.path.join(home, "log"), os.path.join(home, "log.old"))
        os.rename(os.path.join(home, "log.new"), os.path.join(home, "log"))
        flush_folder(home)
    return "log renamed"


def forget(home):
    """The last step: keys of version 1 go, but those of the older log and of the identity."""
    with Locked(home, "header") as file:
        header, _ = read_header(home)
        master, keybag, _ = unlock(header)
        kept = {pair: key for pair, key in keybag.items() if pair[1] > header.last_old or pair[0] in (one.LOG, one.IDENTITY)}
        write_header(file, header, master, kept)
    return "forget"


def step(home):
    header, is_torn = read_header(home)
    if header.version == 1:
        return rise(home)
    if is_torn:
        with Locked(home, "header") as file, open(os.path.join(home, "header"), "rb") as data:
            file.write(data.read(one.COPY_SIZE), one.COPY_SIZE)
        return "second copy"
    _, keybag, _ = unlock(header)
    store = Store(home, header, keybag)
    if store.root_epoch != header.epoch:
        with Writer(store) as writer:
            writer.commit()
        return "root"
    if front_version(home, "log.state") == 1:
        return begin_log(home, header, keybag)
    if front_version(home, "log.new") == 2:
        return rename_log(home)
    if outdated(store):
        return move(store)
    if 1 in (front_version(home, "open.key"), front_version(home, "open.pub")):
        return take_in(store, keybag)
    if any(kind == one.RECORDS and epoch <= header.last_old for kind, epoch in keybag):
        return forget(home)
    return "done"


def read(home):
    """Everything, whatever mixture of the two versions it lies in."""
    header, _ = read_header(home)
    _, keybag, _ = unlock(header)
    store = Store(home, header, keybag)
    values, versions, total = {}, set(), 0
    for lookup, record in store.records():
        digest = hashlib.sha256()
        for piece in store.content(record):
            digest.update(piece)
        # What was taken in from the open compartment is still called what it was there.
        called = record.label or {"collection": record.collection, "name": record.name}
        values[f"{called['collection']}/{called['name']}"] = digest.hexdigest()
        versions.add(version_of(header, record.epoch))
        total += store.epochs[record.epoch].term(lookup, record.sequence)
    is_intact = not store.damage and len(list(store.records())) == store.count and total % 2**256 == store.sum
    for item in waiting(store):
        values[f"{item.collection}/{item.name}"] = hashlib.sha256(item.content).hexdigest()
    return {
        "values": values, "versions": sorted(versions), "isIntact": is_intact, "version": header.version,
        "entries": entries(home, header, keybag), "identity": [epoch for kind, epoch in keybag if kind == one.IDENTITY],
    }  # fmt: skip


def entries(home, header, keybag):
    """How many entries of the log prove themselves, each under the version of its segment."""
    count = 0
    for name in ("log.old", "log", "log.new"):
        version = front_version(home, name)
        if version is None:
            continue
        with open(os.path.join(home, name), "rb") as file:
            data = file.read()
        epoch = int.from_bytes(data[52:56], "little")
        key = log_of_one.Key(header.vault, keybag[one.LOG, epoch])
        if version == 1:
            count += len(log_of_one.Segment(data, {epoch: key}, header.vault).entries)
            continue
        chain, slot = data[28:44], data[SLOTS : 2 * SLOTS]
        associated = header.vault + chain + slot[:8] + VERSIONS[2]
        first = key.first(header.vault, chain)
        tag = one.blake3_keyed(one.blake3_keyed(first, b"holdfast/1/log-entry"), associated + slot[8:176])[:16]
        plaintext = one.open_sealed_box(header.vault, key.private, slot[8:176], associated, "an entry")
        assert tag == slot[176:] and plaintext[0] == 2
        count += 1
    return count


def put(home, collection, name):
    header, _ = read_header(home)
    if header.version != 2:
        raise one.Failure("this vault is of version 1")
    _, keybag, _ = unlock(header)
    store = Store(home, header, keybag)
    names, content = (collection.encode(), name.encode()), sys.stdin.buffer.read()
    with Writer(store) as writer:
        for keys in store.epochs.values():
            lookup = keys.lookup(*names)
            if (value := writer.transaction.get(lookup)) is not None:
                writer.remove(lookup, store.open_record(lookup, value))
        front = struct.pack("<BBBBHHQqq", 1, 0, 0, 0, *map(len, names), 0, 0, 0)
        writer.add(front + b"".join(names) + content)
        writer.commit()
    remove_files(home, writer.released)


def main():
    try:
        if OPTIONS.what in ("step", "each", "rest"):
            name = ""
            while name != "done" and not (name and OPTIONS.what == "step"):
                name = step(OPTIONS.home)
                close_databases()
                if OPTIONS.what != "rest" or name == "done":
                    print(json.dumps({"step": name, **read(OPTIONS.home)}), flush=True)
                    close_databases()
        elif OPTIONS.what == "read":
            print(json.dumps(read(OPTIONS.home)))
        else:
            put(OPTIONS.home, *OPTIONS.names)
    except one.Failure as failure:
        print(f"version_2: {failure}", file=sys.stderr)
        return failure.status
    return 0


PARSER = argparse.ArgumentParser()
PARSER.add_argument("--die")
PARSER.add_argument("--backup")
PARSER.add_argument("--program")
PARSER.add_argument("--passcode", action="store_true")
PARSER.add_argument("home")
PARSER.add_argument("what", choices=["step", "each", "rest", "read", "put"])
PARSER.add_argument("names", nargs="*")
OPTIONS = PARSER.parse_args()
SECRET = one.read_secret(3, "")

if __name__ == "__main__":
    sys.exit(main())
