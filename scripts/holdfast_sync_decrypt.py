#!/usr/bin/env python3
"""Reads what a Holdfast vault's devices exchange, without Holdfast: a second reader of Docs/vault-format.md 24 to 26.

    holdfast_sync_decrypt.py [OPTION] HOME verify ROAD    checks the group's records in the vault and all of the folder ROAD,
                                                          and prints one JSON object with counts
    holdfast_sync_decrypt.py [OPTION] HOME items ROAD     one JSON object a line for each item that the folder tells of: its
                                                          parts, stamps and removals, without a value

Asks for the passcode on the terminal. Options:
    --passcode-fd N    read the passcode from this file descriptor: one line, without its line feed
    --phrase           ask for the vault's recovery phrase instead
    --phrase-fd N      read the phrase from this file descriptor, one line
    --share-fd N       read the share of a vault that opens without asking, which its key store has: 64 hexadecimal digits

Needs what holdfast_decrypt.py needs, which must lie beside it.

Reads only: nothing in the home or the folder is written, no lock is taken and no attempt is counted. Run it while nothing
writes to the vault and the folder, or on copies. Secrets lie in ordinary memory. Messages of a device that joins are under
a key that only the invitation's words give: of them only names are compared with bytes.

verify counts: members and removed, of the current roster; rosters, streams, entries, changes, pieces and states that were
checked and opened, in the folder; shadows, outbox (entries the vault keeps) and unpublished (those of them that the folder
lacks), in the vault; alike, the shadows that are what the folder's states join to; sealed, what is under keys that this
vault does not have; waiting, entries whose turn has not come because of a problem before them; uncounted, entries that no
longer count; loose, pieces that no entry read here names; passedOver, names that mean nothing; problems, each of which is
told on standard error.

Exit status: 0 done, 1 failed, 2 wrong usage, 3 wrong passcode or phrase, 5 damaged (there are problems), 6 not found (no
vault, a vault that is not synced, or a folder that is no group's).
"""

import argparse
import importlib.util
import os
import re
import stat
import struct
import sys

# Sizes and limits.
ENTRY_SIZES = (1024, 2048, 4096, 8192, 16384, 32768)
ROSTER_SIZES = (4096, 8192, 16384)
ROSTER_BOXES = (8, 16, 32)
FRONT, BOX, SIGNATURE = 128, 81, 64
LAST_NUMBER = 65536
HEADS, WANTS, CHANGES = 256, 1024, 256
PIECE_FILE, PIECE_CONTENT, PIECED = 32768, 32000, 1073741824
MEMBERS, REMOVED, MEMBER_RECORD, REMOVED_RECORD, MEMBER_NAME = 32, 112, 149, 72, 64
STATE_SIZE, STATE_STREAMS, STATE_STAMPS, STATE_VALUES, LAST_LIFE = 8388608, 1024, 4096, 8192, 65535
KNOWN_STREAMS, SAME_NUMBER, EARLIER_ROSTERS, GONE_MEMBERS = 256, 64, 4096, 144
MARKS, OWN_ENTRY_PIECES, ROAD_PATH, ROADS = 512, 16384, 4096, 4
RECORD_SIZE = 1048576
MARKER_SIZE = 32

ENTRY, SNAPSHOT, ROSTER, WELCOME, INVITATION, CARD = 1, 2, 3, 4, 5, 6
JOIN_WORDS = {"invitation": INVITATION, "card": CARD, "welcome": WELCOME}
PARTS = {
    1: "place", 2: "kind", 3: "flags", 4: "created", 5: "trash", 6: "notes", 7: "order", 8: "field", 9: "tag",
    10: "widening", 11: "history", 12: "unknown", 13: "value",
}  # fmt: skip
PLACE, FIELD, VALUE = 1, 8, 13
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551  # of P-256
COLLECTION = b"\0sync"
ZEROS = bytes(32)


def load(name):
    """A script that lies beside this one, as a module, leaving no __pycache__ behind."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


holdfast = load("holdfast_decrypt")
Damaged, Failure, NotFound = holdfast.Damaged, holdfast.Failure, holdfast.NotFound
blake3, hkdf, ec = holdfast.blake3, holdfast.hkdf, holdfast.ec

from cryptography.exceptions import InvalidSignature  # noqa: E402, after the message of what to install
from cryptography.hazmat.primitives import hashes  # noqa: E402
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature  # noqa: E402


class Reader(holdfast.Reader):
    def signed(self):
        return struct.unpack("<q", self.take(8))[0]

    def version(self):
        version = self.integer(1)
        if version > 1:
            raise Failure(f"{self.what} has version {version}; this program knows 1")
        self.check(version == 1)

    def zeros(self):
        """To the end there are only zeros."""
        self.check(not any(self.rest()))

    def end(self):
        self.check(self.position == len(self.data))

    def ascending(self, found, what=lambda entry: entry):
        """A list in its order, each once."""
        keys = [what(entry) for entry in found]
        self.check(all(low < high for low, high in zip(keys, keys[1:])))
        return found

    def list(self, limit, one):
        count = self.integer(2)
        self.check(count <= limit)
        return [one() for _ in range(count)]


def counted16(data):
    return struct.pack("<H", len(data)) + data


# ---------------------------------------------------------------------------------------------------------------------
# Envelopes (24).


class Front:
    def __init__(self, data, what):
        reader = Reader(data[:FRONT], what)
        reader.check(reader.take(8) == b"HFSYNC\0\1")
        version = reader.integer(2)
        if version > 1:
            raise Failure(f"{what} has version {version}; this program knows 1")
        reader.check(version == 1)
        self.kind = reader.integer(1)
        reader.check(ENTRY <= self.kind <= CARD and reader.integer(1) == 0)
        self.group, self.roster = reader.take(16), reader.integer(4)
        self.stream, self.number = reader.take(16), reader.integer(8)
        self.before, self.salt, self.roster_hash = reader.take(32), reader.take(32), reader.take(8)
        reader.end()
        reader.check(self.roster >= 1)
        reader.check((self.before == ZEROS) == (self.number == 1))
        if self.kind == ROSTER:
            reader.check(self.stream == bytes(16) and self.number == self.roster and self.roster_hash == bytes(8))
        elif self.kind <= SNAPSHOT:
            reader.check(1 <= self.number <= LAST_NUMBER)
        else:
            reader.check(self.number == {INVITATION: 1, CARD: 2, WELCOME: 3}[self.kind])

    @property
    def label(self):
        if self.kind == ROSTER:
            return b"holdfast/1/sync-roster"
        return b"holdfast/1/sync-entry" if self.kind <= SNAPSHOT else b"holdfast/1/sync-join"


class Envelope:
    """What is not a piece, before anything of it is believed."""

    def __init__(self, data, what):
        self.data, self.what, self.hash = data, what, blake3(data)
        self.front = Front(data, what)
        sizes = ROSTER_SIZES if self.front.kind == ROSTER else ENTRY_SIZES
        if len(data) not in sizes:
            raise Damaged(f"{what} has a size that no writer writes")
        self.boxes_end = FRONT
        if self.front.kind == ROSTER:
            self.boxes_end += BOX * ROSTER_BOXES[ROSTER_SIZES.index(len(data))]
        self.signed = self.front.label + b"\n" + blake3(data[:-SIGNATURE])

    @property
    def boxes(self):
        return [self.data[at : at + BOX] for at in range(FRONT, self.boxes_end, BOX)]

    def is_signed_by(self, key):
        r, s = (int.from_bytes(half, "big") for half in (self.data[-64:-32], self.data[-32:]))
        if not (1 <= r < ORDER and 1 <= s <= ORDER - s):
            return False
        try:
            point(key).verify(encode_dss_signature(r, s), self.signed, ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            return False
        return True

    def signer(self, members):
        """The member whose signature this is."""
        for member in members:
            if self.is_signed_by(member.signing):
                return member
        raise Damaged(f"{self.what} is not signed by a member of its roster")

    def open(self, secret):
        front = self.front
        info = front.label + front.group + front.stream + struct.pack("<Q", front.number)
        both = hkdf(front.salt, secret, info, 44)
        sealed = self.data[self.boxes_end : -SIGNATURE]
        return holdfast.open_box(both[:32], both[32:], sealed, self.data[: self.boxes_end], self.what)


def point(data):
    try:
        if len(data) != 33:
            raise ValueError
        return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), data)
    except ValueError:
        raise Damaged("a member's key is no point on the curve") from None


def member_id(signing, box):
    return holdfast.blake3_derive("holdfast/1/sync-member", signing + box)[:16]


def commitment(group, epoch):
    return hkdf(group, epoch, b"holdfast/1/sync-commit", 32)


def check_name(data, reader):
    """A device's name."""
    return holdfast.label(data, MEMBER_NAME, reader)


# ---------------------------------------------------------------------------------------------------------------------
# Rosters (24).


class Member:
    def __init__(self, reader):
        self.bytes = reader.take(MEMBER_RECORD)
        inner = Reader(self.bytes, reader.what)
        self.id, self.signing, self.box = inner.take(16), inner.take(33), inner.take(33)
        self.reads, size = inner.integer(2), inner.integer(1)
        inner.check(1 <= size <= MEMBER_NAME and self.reads >= 1)
        self.name = check_name(inner.take(size), inner)
        inner.zeros()
        point(self.signing), point(self.box)
        inner.check(self.id == member_id(self.signing, self.box))


class Roster:
    """An opened one. `removed` has, by member, the heads that count: number and hash by stream."""

    def __init__(self, envelope, plaintext):
        self.envelope, self.hash, self.number = envelope, envelope.hash, envelope.front.number
        self.before = envelope.front.before
        reader = Reader(plaintext, envelope.what)
        self.commitment, self.author = reader.take(32), reader.take(16)
        members, removed = reader.integer(1), reader.integer(1)
        reader.check(1 <= members <= MEMBERS and removed <= REMOVED)
        self.members = reader.ascending([Member(reader) for _ in range(members)], lambda member: member.id)
        records = [reader.take(REMOVED_RECORD) for _ in range(removed)]
        reader.ascending(records, lambda record: record[:32])
        reader.zeros()
        self.removed = {}
        for record in records:
            member, head = record[:16], record[16:]
            heads = self.removed.setdefault(member, {})
            # Zeros stand alone.
            reader.check(None not in heads and (any(head) or not heads))
            if not any(head):
                heads[None] = None
                continue
            number = int.from_bytes(head[16:24], "little")
            reader.check(1 <= number <= LAST_NUMBER and head[24:] != ZEROS)
            heads[head[:16]] = number, head[24:]
        reader.check(len(members_of(self)) == members and not members_of(self) & set(self.removed))
        # Who leaves writes the roster that removes it.
        reader.check(self.author in members_of(self) or self.author in self.removed)
        reader.check(members <= ROSTER_BOXES[ROSTER_SIZES.index(len(envelope.data))])

    def counting(self, member, stream):
        """The last entry of a removed member's stream that counts."""
        return self.removed[member].get(stream) or (0, ZEROS)


def members_of(roster):
    return {member.id for member in roster.members}


def check_first(roster):
    if members_of(roster) != {roster.author} or roster.removed:
        raise Damaged(f"{roster.envelope.what} is not as a first one is")


def check_after(roster, earlier):
    """Whether a roster may follow another one."""
    what = roster.envelope.what
    old, new = members_of(earlier), members_of(roster)
    if roster.author not in old:
        raise Damaged(f"{what} is by nobody of the one before")
    removes = set(roster.removed) - set(earlier.removed)
    if old - new - set(roster.removed) or set(earlier.removed) - set(roster.removed) or removes - old:
        raise Damaged(f"{what} leaves somebody out, or removes who was not there")
    for member, heads in earlier.removed.items():
        if roster.removed[member] not in (heads, {None: None}):
            raise Damaged(f"{what} has other records of a removed member than the one before")
    known = {member.id: member.bytes for member in earlier.members}
    for member in roster.members:
        if member.id != roster.author and known.get(member.id, member.bytes) != member.bytes:
            raise Damaged(f"{what} changes another member than its author")
    if (roster.commitment != earlier.commitment) != bool(removes):
        raise Damaged(f"{what} has a key that does not fit whom it removes")


# ---------------------------------------------------------------------------------------------------------------------
# Entries and pieces (24).


class PieceList:
    def __init__(self, data, what, smallest=1, largest=PIECED):
        reader = Reader(data, what)
        self.bytes, self.key, self.size, self.hash = data, reader.take(32), reader.integer(8), reader.take(32)
        reader.check(smallest <= self.size <= largest)
        self.ids = [reader.take(32) for _ in range(-(-self.size // PIECE_CONTENT))]
        reader.end()

    def sizes(self):
        return [min(PIECE_CONTENT, self.size - at) for at in range(0, self.size, PIECE_CONTENT)]


def open_piece(data, name, key):
    """The bytes of a piece that were cut under the key of a list."""
    what = f"piece {name.hex()}"
    if len(data) != PIECE_FILE:
        raise Damaged(f"{what} has the wrong size")
    plaintext = holdfast.open_box(hkdf(name, key, b"holdfast/1/sync-piece", 32), bytes(12), data, name, what)
    reader = Reader(plaintext, what)
    size = reader.integer(2)
    reader.check(1 <= size <= PIECE_CONTENT)
    content = reader.take(size)
    reader.zeros()
    if holdfast.blake3_keyed(key, content) != name:
        raise Damaged(f"{what} has another id")
    return content


class Body:
    """The plaintext of an entry."""

    def __init__(self, plaintext, front, what):
        reader = Reader(plaintext, what)
        self.member = reader.take(16) if front.number == 1 else None
        self.time = reader.signed()
        self.list = None
        if front.kind == SNAPSHOT:
            flags, self.first = reader.integer(1), reader.integer(8)
            reader.check(flags <= 3 and 1 <= self.first <= front.number)
            self.is_full, self.is_last = flags & 1 != 0, flags & 2 != 0
            if self.is_last:
                listed = reader.counted(65535)
                reader.check((not listed) == (self.first == 1))
                if listed:
                    size = 8 * (self.first - 1)
                    self.list = PieceList(listed, what, size, size)
        self.heads = reader.list(HEADS, lambda: (reader.take(16), reader.integer(8), reader.take(32)))
        reader.ascending(self.heads, lambda head: head[0])
        for stream, number, name in self.heads:
            reader.check(stream != front.stream and 1 <= number <= LAST_NUMBER and name != ZEROS)
        self.wants = reader.list(WANTS, lambda: (reader.integer(1), reader.take(32)))
        for kind, about in self.wants:
            reader.check(1 <= kind <= 3)
            if kind == 2:
                number = int.from_bytes(about[16:24], "little")
                reader.check(1 <= number <= LAST_NUMBER and not any(about[24:]))
            elif kind == 3:
                reader.check(any(about[:4]) and not any(about[4:]))
        self.changes = []
        for data in reader.list(CHANGES, lambda: reader.take(self.size_of_change(reader))):
            reader.check(data[0] in (1, 2) and len(data) > 1)
            self.changes.append(data[1:] if data[0] == 1 else PieceList(data[1:], what))
        reader.zeros()

    @staticmethod
    def size_of_change(reader):
        size = reader.integer(4)
        reader.check(size != 0)
        return size

    @property
    def piece_ids(self):
        """The pieces that the changes need, each once, in their order."""
        lists = (change for change in self.changes if isinstance(change, PieceList))
        return list(dict.fromkeys(name for found in lists for name in found.ids))


# ---------------------------------------------------------------------------------------------------------------------
# States (25).


class State:
    """Contexts and removals are numbers by (stream, life); a stamp is (stream, life, number, time)."""

    def __init__(self, data, what):
        reader = Reader(data, what)
        reader.check(len(data) <= STATE_SIZE)
        reader.version()
        self.form, self.item = reader.integer(1), reader.take(16)
        reader.check(self.form <= 1)
        streams = reader.ascending(
            reader.list(STATE_STREAMS, lambda: (reader.take(16), reader.integer(4)))
        )
        reader.check(all(life <= LAST_LIFE for _, life in streams))
        used = set()

        def stream():
            index = reader.integer(2)
            reader.check(index < len(streams))
            used.add(index)
            return streams[index]

        def numbers():
            found = reader.list(STATE_STREAMS, lambda: (stream(), reader.integer(8)))
            reader.ascending(found, lambda entry: entry[0])
            reader.check(all(number > 0 for _, number in found))
            return dict(found)

        self.removals, self.context = numbers(), numbers()
        stamps = reader.list(STATE_STAMPS, lambda: (*stream(), reader.integer(8), reader.signed()))
        reader.ascending(stamps)
        named = set()

        def stamp():
            index = reader.integer(2)
            reader.check(index < len(stamps))
            named.add(index)
            return stamps[index]

        versions = reader.ascending(reader.list(STATE_STAMPS, stamp))
        values = []
        for _ in range(count := reader.integer(2)):
            part = reader.integer(1)
            reader.check(part in PARTS)
            field = reader.take(16) if part == FIELD else b""
            values.append((part, field, stamp(), reader.take(reader.integer(4))))
        reader.check(count <= STATE_VALUES)
        reader.ascending(values)
        reader.end()
        reader.check(len(used) == len(streams) and len(named) == len(stamps))
        for found in stamps:
            reader.check(found[2] > 0 and covers(self.context, found))
        self.versions, self.values = set(versions), set(values)
        for part, _, _, value in values:
            check_value(self.form, part, value, what)

    @property
    def lives(self):
        return any(not covers(self.removals, stamp) for stamp in self.versions)

    def joined(self, other):
        """Both as one."""
        if self.form != other.form:
            raise Damaged(f"item {self.item.hex()} has states of two forms")
        state = object.__new__(State)
        state.form, state.item = self.form, self.item
        state.removals, state.context = highest(self.removals, other.removals), highest(self.context, other.context)
        state.versions = kept(self, other, self.versions, other.versions, lambda stamp: stamp)
        state.values = kept(self, other, self.values, other.values, lambda value: value[2])
        return state

    def says_the_same(self, other):
        """Of an item that does not live only the removals are known everywhere."""
        if not self.lives and not other.lives:
            return self.removals == other.removals
        return all(getattr(self, name) == getattr(other, name) for name in ("form", "removals", "context", "versions", "values"))


def covers(context, stamp):
    return context.get(stamp[:2], 0) >= stamp[2]


def highest(first, second):
    return {stream: max(first.get(stream, 0), second.get(stream, 0)) for stream in {**first, **second}}


def kept(first, second, ours, theirs, stamp):
    mine = {entry for entry in ours - theirs if not covers(second.context, stamp(entry))}
    others = {entry for entry in theirs - ours if not covers(first.context, stamp(entry))}
    return ours & theirs | mine | others


def place(value, what):
    reader = Reader(value, what)
    minimum = reader.integer(1)
    collection, name = reader.counted(holdfast.LONGEST_COLLECTION), reader.counted(holdfast.LONGEST_NAME)
    reader.end()
    reader.check(minimum <= 4 and name and collection[:1] != b"\0" and name[:1] != b"\0")
    holdfast.text(collection, what), holdfast.text(name, what)
    return collection, name


def check_value(form, part, value, what):
    reader = Reader(value, what)
    reader.check(part == PLACE or (part == VALUE) == (form == 0))
    if part == PLACE:
        place(reader.rest(), what)
    elif part == 2:
        reader.check(reader.integer(1) > 0)
    elif part == 3:
        reader.check(reader.integer(2) <= 1)
    elif part == 4:
        reader.signed()
    elif part == 5 and value:
        moved, expires = reader.signed(), reader.signed()
        reader.check(expires >= moved)
    elif part == 6:
        holdfast.text(reader.rest(), what)
    elif part == 7:
        reader.check(len(value) % 16 == 0)
        reader.rest()
    elif part == FIELD:
        holdfast.item_field(reader)
    elif part == 9:
        holdfast.label(reader.rest(), holdfast.LONGEST_TAG, reader)
    elif part == 10:
        holdfast.label(reader.take(max(len(value) - 1, 0)), holdfast.LONGEST_TAG, reader)
        reader.check(reader.integer(1) <= 1)
    elif part == 11:
        reader.signed()
        holdfast.item_field(reader)
    elif part == 12:
        reader.check(reader.integer(1) > 5)
        reader.take(reader.integer(4))
    elif part == VALUE:
        reader.check(len(reader.rest()) <= RECORD_SIZE)
    reader.end()


# ---------------------------------------------------------------------------------------------------------------------
# The group's records in the vault (26, and the shadows of 25).


class GroupRecord:
    def __init__(self, data):
        reader = Reader(data, "the record of the group")
        reader.version()
        self.transactions, self.group, self.stream = reader.integer(8), reader.take(16), reader.take(16)
        self.name = check_name(reader.counted(MEMBER_NAME), reader)
        self.roster = reader.take(32)
        reader.check(self.roster != ZEROS)
        self.known = reader.ascending(reader.list(KNOWN_STREAMS, lambda: reader.take(16)))
        self.earlier = reader.ascending(reader.list(KNOWN_STREAMS, lambda: reader.take(16)))
        reader.end()
        reader.check(self.stream in self.known and self.stream not in self.earlier)
        reader.check(set(self.earlier) <= set(self.known))


class StreamRecord:
    def __init__(self, data, stream):
        reader = Reader(data, f"the record of stream {stream.hex()}")
        reader.version()
        flags = reader.integer(1)
        reader.check(flags <= 31 and (flags & 10 != 8) and (flags & 18 != 16) and reader.take(16) == stream)
        self.member, self.named = reader.take(16), reader.integer(8)
        self.head = self.last = self.named_head = None
        if flags & 1:
            self.head = reader.integer(8), reader.take(32)
            reader.check(1 <= self.head[0] <= LAST_NUMBER and self.head[1] != ZEROS)
        if flags & 2:
            self.last = reader.integer(8)
            reader.check(self.last <= LAST_NUMBER)
        if flags & 4:
            self.named_head = reader.integer(8), reader.take(32)
            reader.check(max(1, self.last or 0) <= self.named_head[0] <= LAST_NUMBER and self.named_head[1] != ZEROS)
        if flags & 16:
            reader.check(self.last <= reader.integer(8) <= LAST_NUMBER)
        reader.end()
        reader.check(self.named <= self.length)
        self.marks = []

    @property
    def length(self):
        return self.head[0] if self.head else 0

    def check_marks(self, what):
        if len(self.marks) != self.length or self.head and self.marks[-1] != self.head[1][:8]:
            raise Damaged(f"the marks of stream {what} do not fit its head")


class Keeper:
    def __init__(self, data):
        reader = Reader(data, "the record of the rosters")
        reader.version()
        self.current, self.before = reader.take(32), reader.take(32)
        self.same = reader.ascending(reader.list(SAME_NUMBER, lambda: reader.take(32)))
        reader.check(self.current in self.same and ZEROS not in self.same and self.before not in self.same)
        self.earlier = reader.list(EARLIER_ROSTERS, lambda: self.one(reader))
        reader.ascending(self.earlier, lambda roster: roster[:2])
        self.gone = reader.list(GONE_MEMBERS, lambda: (reader.take(16), reader.take(32)))
        reader.ascending(self.gone, lambda member: member[0])
        reader.check(all(roster != ZEROS for _, roster in self.gone))
        reader.end()

    @staticmethod
    def one(reader):
        number, found, before, author = reader.integer(4), reader.take(32), reader.take(32), reader.take(16)
        removed = reader.ascending(reader.list(REMOVED, lambda: reader.take(16)))
        reader.check(number >= 1 and found != ZEROS and (before == ZEROS) == (number == 1))
        return number, found, before, author, removed


class OwnEntry:
    def __init__(self, data, what):
        reader = Reader(data, what)
        reader.version()
        self.pieces = reader.list(OWN_ENTRY_PIECES, lambda: reader.take(32))
        reader.check(len(set(self.pieces)) == len(self.pieces))
        self.entry = reader.rest()
        reader.check(len(self.entry) in ENTRY_SIZES)


class Shadow:
    def __init__(self, data, item, kind="the shadow of"):
        what = f"{kind} {item.hex()}"
        reader = Reader(data, what)
        reader.version()
        self.flags, self.sequence = reader.integer(1), reader.integer(8)
        reader.check(self.flags <= 31)
        self.place = reader.counted(holdfast.LONGEST_COLLECTION), reader.counted(holdfast.LONGEST_NAME)
        reader.check((self.sequence == 0) == (self.place[1] == b""))
        reader.check(self.sequence != 0 or self.place[0] == b"" or self.flags & 24 != 0)
        self.state = State(reader.rest(), what)
        reader.check(self.state.item == item)
        if kind == "the shadow of":
            reader.check(self.state.lives == (self.flags & 1 != 0))


def road_record(data, what):
    reader = Reader(data, what)
    reader.version()
    reader.check(reader.integer(1) == 1)
    path = reader.counted(ROAD_PATH)
    reader.end()
    reader.check(path.startswith(b"/") and b"\0" not in path)
    holdfast.text(path, what)
    return path


HEX16, HEX32, DECIMAL = "[0-9a-f]{32}", "[0-9a-f]{64}", "0|[1-9][0-9]{0,4}"
RECORD_NAMES = {
    kind: re.compile(pattern) for kind, pattern in {
        "group": "group", "keeper": "keeper", "keys": "keys", "names": "names", "roster": f"r({HEX32})",
        "epoch": f"e({HEX32})", "stream": f"s({HEX16})", "marks": rf"s({HEX16})\.({DECIMAL})",
        "own": rf"o({HEX16})\.([0-9a-f]{{16}})", "piece": f"p({HEX32})", "road": f"w([0-{ROADS - 1}])",
        "shadow": f"i({HEX16})", "waiting": f"j({HEX16})",
    }.items()
}  # fmt: skip
CUT = re.compile(rf"(keeper|[ij]{HEX16})\.([1-9][0-9]*)")


class Group:
    """What a vault keeps of its group."""

    def __init__(self, vault, problems):
        self.vault, self.problems = vault, problems
        self.waiting = {}
        self.streams, self.shadows, self.own, self.pieces, self.epochs, self.roads = {}, {}, {}, {}, {}, {}
        self.rosters, marks = {}, {}
        for kind, groups, data in self.named_records():
            with problems:
                if kind == "group":
                    self.record = GroupRecord(data)
                elif kind == "keeper":
                    self.keeper = Keeper(data)
                elif kind == "keys":
                    self.signing, self.box = (self.scalar(half) for half in (data[:32], data[32:]))
                elif kind == "names":
                    self.names = Reader(data, "the record of the name key").take(32)
                    Reader(data[32:], "the record of the name key").end()
                elif kind == "roster":
                    self.rosters[bytes.fromhex(groups[0])] = data
                elif kind == "epoch":
                    Reader(bytes(len(data)), "the record of an epoch's key").check(len(data) == 32)
                    self.epochs[bytes.fromhex(groups[0])] = data
                elif kind == "stream":
                    stream = bytes.fromhex(groups[0])
                    self.streams[stream] = StreamRecord(data, stream)
                elif kind == "marks":
                    marks[bytes.fromhex(groups[0]), int(groups[1])] = data
                elif kind == "own":
                    place = bytes.fromhex(groups[0]), int(groups[1], 16)
                    self.own[place] = OwnEntry(data, f"own entry {place[1]} of {groups[0]}")
                elif kind == "piece":
                    self.pieces[bytes.fromhex(groups[0])] = data
                elif kind == "road":
                    self.roads[int(groups[0])] = road_record(data, f"road {groups[0]}")
                elif kind == "waiting":
                    item = bytes.fromhex(groups[0])
                    self.waiting[item] = Shadow(data, item, "what waits beside the shadow of")
                else:
                    item = bytes.fromhex(groups[0])
                    self.shadows[item] = Shadow(data, item)
        for what in ("record", "keeper", "signing", "names"):
            if not hasattr(self, what):
                if not problems.count:
                    raise NotFound("this vault is not synced")
                raise Damaged("the vault lacks a record of its group that can be read")
        self.id = self.record.group
        self.member = member_id(holdfast.compressed(self.signing), holdfast.compressed(self.box))
        self.check(marks)

    def named_records(self):
        found = {}
        for _, record in self.vault.records():
            if record.raw_names[0] == COLLECTION:
                with self.problems:
                    if record.kind != 0 or record.is_item or record.origin != "protected":
                        raise Damaged(f"record {record.name!r} of the group is of another kind than the sync's")
                    found[record.name] = record.content
        whole, rest = {}, {}
        for name, data in found.items():
            cut = CUT.fullmatch(name)
            if cut:
                rest.setdefault(cut[1], {})[int(cut[2])] = data
            else:
                whole[name] = data
        for name, parts in rest.items():
            with self.problems:
                numbers = sorted(parts)
                pieces = [whole.get(name, b""), *(parts[number] for number in numbers)]
                if numbers != list(range(1, len(parts) + 1)) or not pieces[-1]:
                    raise Damaged(f"a part of record {name!r} is missing")
                if any(len(part) != RECORD_SIZE for part in pieces[:-1]):
                    raise Damaged(f"record {name!r} is cut in another place")
                whole[name] = b"".join(pieces)
        for name, data in whole.items():
            for kind, pattern in RECORD_NAMES.items():
                match = pattern.fullmatch(name)
                if match:
                    yield kind, match.groups(), data
                    break
            else:
                self.problems.add(f"record {name!r} is none of the sync's")

    @staticmethod
    def scalar(data):
        try:
            if len(data) != 32:
                raise ValueError
            return ec.derive_private_key(int.from_bytes(data, "big"), ec.SECP256R1())
        except ValueError:
            raise Damaged("the record of the member's keys has no two scalars") from None

    def check(self, marks):
        """What the records say of each other."""
        problems, record, keeper = self.problems, self.record, self.keeper
        for stream in self.streams:
            with problems:
                found = self.streams[stream]
                for number in range(-(-found.length // MARKS)):
                    data = marks.pop((stream, number), b"")
                    found.marks += [data[at : at + 8] for at in range(0, len(data), 8)]
                found.check_marks(stream.hex())
        for stream, number in marks:
            problems.add(f"marks {number} of stream {stream.hex()} belong to nothing")
        if set(self.streams) != set(record.known):
            problems.add("the streams that are kept are not those that the group's record names")
        if keeper.current != record.roster:
            problems.add("the records of the group and of its rosters name different rosters")
        for found in {keeper.current, *keeper.same, *({keeper.before} - {ZEROS})} - set(self.rosters):
            problems.add(f"roster {found.hex()} is not kept")
        for stream in (record.stream, *record.earlier):
            if stream in self.streams and self.streams[stream].member != self.member:
                problems.add(f"stream {stream.hex()} is not this member's")
        for stream, number in self.own:
            if stream not in (record.stream, *record.earlier):
                problems.add(f"own entry {number} of {stream.hex()} is in a stream of others")
        for name, data in self.rosters.items():
            if blake3(data) != name:
                problems.add(f"the roster that is kept as {name.hex()} is another one")


class Problems:
    """Counts and tells. As a context it takes what is damaged inside of it."""

    def __init__(self):
        self.count = 0

    def add(self, words):
        self.count += 1
        warn(words)

    def __enter__(self):
        return self

    def __exit__(self, _, failure, __):
        if isinstance(failure, Failure):
            self.add(failure)
        return isinstance(failure, Failure)


# ---------------------------------------------------------------------------------------------------------------------
# The folder (sync.md, The folder).


class Folder:
    """Names and bytes of what lies in a road. Nothing of it is believed."""

    def __init__(self, path, group, problems):
        self.path, self.passed_over = path, 0
        marker = self.bytes("HOLDFAST-SYNC", MARKER_SIZE + 1)
        if marker is None:
            raise NotFound("this folder is no group's: it has no HOLDFAST-SYNC")
        if marker != b"HFROAD\0\1" + struct.pack("<H", 1) + bytes(6) + group:
            raise Damaged("HOLDFAST-SYNC is not of this vault's group")
        numbered = re.compile("([0-9a-f]{16})-([0-9a-f]{16})")
        self.rosters, self.entries, self.pieces = {}, {}, {}
        for name, match in self.names("rosters", numbered):
            self.rosters[f"rosters/{name}"] = int(match[1], 16), bytes.fromhex(match[2])
        for stream, _ in self.names("s", re.compile(HEX16), folders=True):
            self.entries[bytes.fromhex(stream)] = {
                f"s/{stream}/{name}": (int(match[1], 16), bytes.fromhex(match[2]))
                for name, match in self.names(f"s/{stream}", numbered)
            }
        for stream, _ in self.names("p", re.compile(HEX16), folders=True):
            for name, _ in self.names(f"p/{stream}", re.compile(HEX32)):
                self.pieces.setdefault(bytes.fromhex(name), []).append(f"p/{stream}/{name}")
        words = re.compile(f"({HEX16})-({'|'.join(JOIN_WORDS)})-([0-9a-f]{{16}})")
        for name, match in self.names("join", words):
            with problems:
                envelope = self.envelope(f"join/{name}", bytes.fromhex(match[3]), group, (JOIN_WORDS[match[2]],))
                if envelope.front.stream.hex() != match[1]:
                    raise Damaged(f"join/{name} is of another invitation")

    def names(self, folder, pattern, folders=False):
        try:
            found = sorted(os.listdir(os.path.join(self.path, folder)))
        except FileNotFoundError:
            return
        for name in found:
            mode = os.lstat(os.path.join(self.path, folder, name)).st_mode
            match = pattern.fullmatch(name)
            if match and (stat.S_ISDIR(mode) if folders else stat.S_ISREG(mode)):
                yield name, match
            else:
                self.passed_over += 1

    def bytes(self, name, limit=PIECE_FILE + 1):
        """At most `limit` bytes of a file that is no link."""
        try:
            file = os.open(os.path.join(self.path, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        with os.fdopen(file, "rb") as file:
            return file.read(limit)

    def envelope(self, name, start, group, kinds):
        data = self.bytes(name) or b""
        if blake3(data)[:8] != start:
            raise Damaged(f"{name} is not what its name says")
        envelope = Envelope(data, name)
        if envelope.front.group != group or envelope.front.kind not in kinds:
            raise Damaged(f"{name} is of another group or kind")
        return envelope


class Entry:
    """One whose signature was found right, opened where there is a key."""

    def __init__(self, envelope, roster, signer):
        self.envelope, self.roster, self.signer, self.body = envelope, roster, signer, None
        self.front, self.hash = envelope.front, envelope.hash


class Road:
    """All that a folder has, checked in the light of a vault."""

    def __init__(self, folder, group, problems):
        self.folder, self.group, self.problems = folder, group, problems
        self.counts = dict.fromkeys(
            ("rosters", "streams", "entries", "changes", "pieces", "states", "sealed", "waiting", "uncounted", "loose",
             "unpublished", "alike"), 0)  # fmt: skip
        self.epochs = list(dict.fromkeys(group.epochs.values()))
        self.rosters, self.sealed, self.states = {}, set(), {}
        self.read_rosters()
        self.read_streams()
        self.read_changes()
        self.check_vault()

    # Rosters

    def read_rosters(self):
        group, found, on_road = self.group, {}, set()
        for name, (number, start) in self.folder.rosters.items():
            with self.problems:
                envelope = self.folder.envelope(name, start, group.id, (ROSTER,))
                if envelope.front.number != number:
                    raise Damaged(f"{name} has another number")
                found[envelope.hash] = envelope
                on_road.add(envelope.hash)
        for name, data in group.rosters.items():
            with self.problems:
                if name not in found:
                    envelope = Envelope(data, f"the kept roster {name.hex()}")
                    if envelope.front.kind != ROSTER or envelope.front.group != group.id:
                        raise Damaged(f"{envelope.what} is none of this group")
                    found[envelope.hash] = envelope
        # What the vault's current roster follows is genuine by its hash.
        genuine, follow = set(group.rosters), group.keeper.current
        while follow in found:
            genuine.add(follow)
            if follow not in on_road:
                self.problems.add(f"roster {follow.hex()}, which this vault keeps, is not in the folder")
            follow = found[follow].front.before
        if follow != ZEROS:
            self.problems.add(f"roster {follow.hex()}, which the group followed, is not in the folder")
        genuine |= {roster[1] for roster in group.keeper.earlier}
        for name in sorted(found, key=lambda name: found[name].front.number):
            with self.problems:
                self.read_roster(found[name], name in genuine, name in on_road)
        if group.keeper.current not in self.rosters:
            raise Damaged("the group's current roster cannot be read")
        self.current = self.rosters[group.keeper.current]
        gone, named = {member for member, _ in group.keeper.gone}, set(self.current.removed)
        if named - gone or gone - named - members_of(self.current):
            self.problems.add("the removed that this vault knows are not those of its current roster")
        if group.member not in members_of(self.current):
            warn("this vault's member is not in its current roster")

    def read_roster(self, envelope, is_genuine, is_on_road):
        number, what = envelope.front.number, envelope.what
        earlier = self.rosters.get(envelope.front.before)
        follows_sealed = (number - 1, envelope.front.before[:8]) in self.sealed
        if number > 1 and earlier is None and not is_genuine and not follows_sealed:
            raise Damaged(f"{what} follows one that is not here, or was refused")
        signer = envelope.signer(earlier.members) if earlier else None
        secret = self.epoch_of(envelope)
        if secret is None:
            if not is_genuine and not earlier and not follows_sealed:
                raise Damaged(f"{what} is sealed under a key of nobody's")
            self.sealed.add((number, envelope.hash[:8]))
            self.counts["sealed"] += is_on_road
            return
        plaintext = envelope.open(secret)
        roster = Roster(envelope, plaintext)
        if commitment(self.group.id, secret) != roster.commitment:
            raise Damaged(f"{what} has the commitment of another key")
        if earlier is None and roster.author in members_of(roster):
            signer = envelope.signer([member for member in roster.members if member.id == roster.author])
        if signer and signer.id != roster.author:
            raise Damaged(f"{what} is signed by another member than its author")
        if number == 1:
            check_first(roster)
        elif earlier:
            check_after(roster, earlier)
        roster.secret = secret
        self.rosters[roster.hash] = roster
        self.counts["rosters"] += is_on_road

    def epoch_of(self, envelope):
        """The key of a roster: from a box of it, from the vault, or that of another roster."""
        front = envelope.data[:FRONT]
        for box in envelope.boxes:
            try:
                secret = holdfast.open_sealed_box(self.group.id, self.group.box, box, front, envelope.what)
            except Damaged:
                continue
            kept_key = self.group.epochs.get(envelope.hash)
            if kept_key not in (None, secret):
                raise Damaged(f"the vault keeps another key of {envelope.what} than its box has")
            if secret not in self.epochs:
                self.epochs.append(secret)
            return secret
        if envelope.hash in self.group.epochs:
            return self.group.epochs[envelope.hash]
        for secret in self.epochs:
            try:
                envelope.open(secret)
                return secret
            except Damaged:
                continue
        return None

    # Entries

    def read_streams(self):
        self.streams, self.forks, self.cut = {}, {}, set()
        names = dict(self.folder.entries)
        for stream, number in self.group.own:
            names.setdefault(stream, {})
        for stream, files in sorted(names.items()):
            found = {}
            for name, (number, start) in files.items():
                with self.problems:
                    envelope = self.folder.envelope(name, start, self.group.id, (ENTRY, SNAPSHOT))
                    if (envelope.front.stream, envelope.front.number) != (stream, number):
                        raise Damaged(f"{name} is of another stream or number")
                    found.setdefault(number, []).append(envelope)
            self.add_own(stream, found)
            self.streams[stream] = self.read_stream(stream, found)
            self.counts["streams"] += bool(files)
        self.take()

    def add_own(self, stream, found):
        """What the vault keeps of its own stream and the folder lacks is read as if it were there."""
        for (of, number), own in self.group.own.items():
            if of != stream:
                continue
            with self.problems:
                envelope = Envelope(own.entry, f"own entry {number} of {stream.hex()}")
                if (envelope.front.stream, envelope.front.number) != (stream, number):
                    raise Damaged(f"{envelope.what} is another one")
                if envelope.front.group != self.group.id or envelope.front.kind > SNAPSHOT:
                    raise Damaged(f"{envelope.what} is of another group or kind")
                if all(other.hash != envelope.hash for other in found.get(number, [])):
                    self.counts["unpublished"] += 1
                    found.setdefault(number, []).append(envelope)

    def read_stream(self, stream, found):
        """The entries from 1 on, as far as each follows the one before."""
        chain, before, member = [], ZEROS, None
        for number in range(1, max(found, default=0) + 1):
            signed = []
            if any((envelope.front.roster, envelope.front.roster_hash) in self.sealed for envelope in found.get(number, [])):
                # Nobody's signature can be told, here and behind it.
                self.counts["sealed"] += sum(len(found[later]) for later in found if later >= number)
                self.cut.add(stream)
                break
            for envelope in found.get(number, []):
                with self.problems:
                    if envelope.front.before != before:
                        raise Damaged(f"{envelope.what} does not follow the one before")
                    entry = self.checked(envelope)
                    if member not in (None, entry.signer.id):
                        raise Damaged(f"{envelope.what} is by another member than the stream's")
                    signed.append(entry)
            if len(signed) > 1:
                self.problems.add(f"stream {stream.hex()} is forked at {number}")
                self.forks[stream] = number
            if len(signed) != 1:
                behind = sum(len(found[later]) for later in found if later > number)
                if number not in found:
                    self.problems.add(f"entry {number} of stream {stream.hex()} is missing")
                self.counts["waiting"] += behind
                break
            with self.problems:
                self.open_entry(signed[0])
            chain.append(signed[0])
            before, member = signed[0].hash, signed[0].signer.id
        return chain

    def checked(self, envelope):
        """An entry that a member signed."""
        front = envelope.front
        for roster in self.rosters.values():
            if roster.number == front.roster and roster.hash[:8] == front.roster_hash:
                return Entry(envelope, roster, envelope.signer(roster.members))
        raise Damaged(f"{envelope.what} is under a roster that is not here, or cannot be read")

    def open_entry(self, entry):
        body = Body(entry.envelope.open(entry.roster.secret), entry.front, entry.envelope.what)
        if body.member not in (None, entry.signer.id):
            raise Damaged(f"{entry.envelope.what} names another member than the one that signed it")
        entry.body = body

    def take(self):
        """Takes entries in an order in which all that they name is taken before them."""
        taken, progress = {stream: 0 for stream in self.streams}, True
        self.taken = []
        while progress:
            progress = False
            for stream, chain in self.streams.items():
                while taken[stream] < len(chain) and self.may_be_taken(chain[taken[stream]], taken):
                    entry = chain[taken[stream]]
                    taken[stream] += 1
                    progress = True
                    entry.heads = dict(taken)
                    if entry.front.number <= self.end(stream):
                        self.taken.append(entry)
                    else:
                        self.counts["uncounted"] += 1
        for stream, chain in self.streams.items():
            if taken[stream] < len(chain) and chain[taken[stream]].body is None:
                self.counts["waiting"] += len(chain) - taken[stream] - 1
            elif taken[stream] < len(chain):
                self.problems.add(f"{chain[taken[stream]].envelope.what} builds on an entry that is not here")
                self.counts["waiting"] += len(chain) - taken[stream]

    def may_be_taken(self, entry, taken):
        if entry.body is None:
            return False
        for stream, number, name in entry.body.heads:
            # Behind the last entry that counts nothing is waited for.
            last = self.end(stream)
            if taken.get(stream, 0) < min(number, last) or stream not in taken:
                return False
            if number <= last and self.streams[stream][number - 1].hash != name:
                return False
        return True

    def end(self, stream):
        """The last entry that counts of a stream that ended: of a removed member, or of a fork."""
        last, chain = LAST_NUMBER, self.streams.get(stream)
        if chain and chain[0].signer.id in self.current.removed:
            last, name = self.current.counting(chain[0].signer.id, stream)
            if 0 < last <= len(chain) and chain[last - 1].hash != name:
                last -= 1
        return min(last, self.forks.get(stream, LAST_NUMBER + 1) - 1)

    # Changes and pieces

    def read_changes(self):
        self.opened, self.named = {}, set()
        for entry in self.taken:
            self.counts["entries"] += 1
            what, body = entry.envelope.what, entry.body
            if body.list:
                with self.problems:
                    chain = self.streams[entry.front.stream][: body.first - 1]
                    if self.content(body.list, what) != b"".join(other.hash[:8] for other in chain):
                        raise Damaged(f"{what} has other hashes than its stream")
            ids = set()
            for number, change in enumerate(body.changes, 1):
                self.counts["changes"] += 1
                with self.problems:
                    where = f"change {number} of {what}"
                    state = State(self.content(change, where) if isinstance(change, PieceList) else change, where)
                    self.counts["states"] += 1
                    self.check_id(state, where)
                    if state.item in ids:
                        raise Damaged(f"{where} is of an item that another one is of")
                    ids.add(state.item)
                    for (stream, _), most in highest(state.removals, state.context).items():
                        if most > entry.heads.get(stream, 1) and self.end(stream) == LAST_NUMBER:
                            raise Damaged(f"{where} names an entry of {stream.hex()} that was not taken before it")
                    known = self.states.get(state.item)
                    self.states[state.item] = known.joined(state) if known else state
        self.read_loose()

    def check_id(self, state, what):
        """A plain value's id comes from its name."""
        for part, _, _, value in state.values:
            if state.form == 0 and part == PLACE:
                collection, name = place(value, what)
                if holdfast.blake3_keyed(self.group.names, counted16(collection) + counted16(name))[:16] != state.item:
                    raise Damaged(f"{what} has a plain value under another id than its name's")

    def content(self, found, what):
        parts = []
        for name, size in zip(found.ids, found.sizes()):
            if (found.key, name) not in self.opened:
                self.named.add(name)
                copies = self.folder.pieces.get(name, [])
                if not copies:
                    raise Damaged(f"{what} needs piece {name.hex()}, which is missing")
                for copy in copies:
                    self.opened[found.key, name] = open_piece(self.folder.bytes(copy), name, found.key)
                    self.counts["pieces"] += 1
            if len(self.opened[found.key, name]) != size:
                raise Damaged(f"{what} has a piece of another size")
            parts.append(self.opened[found.key, name])
        whole = b"".join(parts)
        if blake3(whole) != found.hash:
            raise Damaged(f"{what} has a content with another hash")
        return whole

    def read_loose(self):
        """Pieces that nothing names: under a key that is known, or at least of the right size."""
        keys = [hkdf(self.group.id, secret, b"holdfast/1/sync-pieces", 32) for secret in self.epochs]
        keys += {key for key, _ in self.opened} - set(keys)
        kept_here = [(name, [("the vault", data)]) for name, data in self.group.pieces.items()]
        on_road = [
            (name, [(path, self.folder.bytes(path)) for path in paths])
            for name, paths in self.folder.pieces.items() if name not in self.named
        ]  # fmt: skip
        self.counts["loose"] = sum(len(copies) for _, copies in on_road)
        for name, copies in kept_here + on_road:
            for where, data in copies:
                for key in keys:
                    try:
                        open_piece(data, name, key)
                        break
                    except Damaged:
                        continue
                else:
                    # What entries under keys of others name cannot be told from what is damaged.
                    if not self.cut:
                        self.problems.add(f"piece {name.hex()} in {where} opens under no key that is known")

    # What the vault says of the same

    def check_vault(self):
        group, add = self.group, self.problems.add
        for stream, record in sorted(group.streams.items()):
            chain = self.streams.get(stream, [])
            if chain and chain[0].signer.id != record.member:
                add(f"stream {stream.hex()} is another member's than in the vault")
            for number, (mark, entry) in enumerate(zip(record.marks, chain), 1):
                if entry.hash[:8] != mark:
                    add(f"entry {number} of stream {stream.hex()} is another one than this vault took")
                    break
            if record.length > len(chain) and stream not in self.forks and stream not in self.cut:
                add(f"entry {len(chain) + 1} of stream {stream.hex()}, which this vault took, is not in the folder")
        for (stream, number), own in group.own.items():
            chain = self.streams.get(stream, [])
            entry = chain[number - 1] if number <= len(chain) else None
            if entry and entry.body and entry.body.piece_ids != own.pieces:
                add(f"own entry {number} of {stream.hex()} needs other pieces than its record names")
        for item, shadow in group.shadows.items():
            state = self.states.get(item)
            self.counts["alike"] += state is not None and state.says_the_same(shadow.state)

    # Results

    def verify(self):
        group = self.group
        names = ("rosters", "streams", "entries", "changes", "pieces", "states")
        holdfast.show({
            "group": group.id.hex(), "member": group.member.hex(), "members": len(self.current.members),
            "removed": len(self.current.removed), **{name: self.counts[name] for name in names},
            "shadows": len(group.shadows), "alike": self.counts["alike"], "outbox": len(group.own),
            **{name: self.counts[name] for name in ("unpublished", "sealed", "waiting", "uncounted", "loose")},
            "passedOver": self.folder.passed_over, "problems": self.problems.count,
        })  # fmt: skip

    def items(self):
        for item, state in sorted(self.states.items()):
            parts = {}
            for part, _, _, _ in sorted(state.values):
                parts[PARTS[part]] = parts.get(PARTS[part], 0) + 1
            stamps = state.versions | {stamp for _, _, stamp, _ in state.values}
            holdfast.show({
                "item": item.hex(), "form": ("value", "item")[state.form], "lives": state.lives, "parts": parts,
                "versions": [dot(stamp) for stamp in sorted(state.versions)],
                "stamps": sorted({dot(stamp) for stamp in stamps}),
                "context": [dot((*stream, number)) for stream, number in sorted(state.context.items())],
                "removals": [dot((*stream, number)) for stream, number in sorted(state.removals.items())],
            })  # fmt: skip


def dot(stamp):
    """A stream, the life of it where it is not the first, and a number."""
    stream, life, number = stamp[:3]
    return f"{stream.hex()}:{number}" if life == 0 else f"{stream.hex()}~{life}:{number}"


# ---------------------------------------------------------------------------------------------------------------------
# Commands.


def warn(words):
    print(f"holdfast_sync_decrypt: {words}", file=sys.stderr)


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
    if arguments.command not in ("verify", "items") or len(arguments.operands) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    holdfast.warn = warn
    problems = Problems()
    try:
        vault = holdfast.open_vault(arguments)
        group = Group(vault, problems)
        road = Road(Folder(arguments.operands[0], group.id, problems), group, problems)
        problems.count += vault.damage
        road.verify() if arguments.command == "verify" else road.items()
    except Failure as failure:
        warn(failure)
        return failure.status
    except holdfast.lmdb.Error as error:
        warn(f"vault.mdb: {error}")
        return Damaged.status
    except OSError as error:
        warn(error)
        return Failure.status
    return Damaged.status if problems.count else 0


if __name__ == "__main__":
    sys.exit(main())
