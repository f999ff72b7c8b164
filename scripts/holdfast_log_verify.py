#!/usr/bin/env python3
"""Verifies the security log of a Holdfast vault without Holdfast: a second reader of Docs/vault-format.md 21.

    holdfast_log_verify.py [OPTION] HOME             says whether the log is as it was written; names each place where not
    holdfast_log_verify.py [OPTION] HOME entries     also one JSON object a line for each entry

Asks for the passcode on the terminal. Options:
    --passcode-fd N    read the passcode from this file descriptor: one line, without its line feed
    --phrase           ask for the vault's recovery phrase instead
    --phrase-fd N      read the phrase from this file descriptor, one line
    --key-fd N         read the log's keys from this file descriptor, as `holdfast log verify --key-out-fd` writes them: 72
                       hexadecimal digits each

Needs what holdfast_decrypt.py needs, which must lie beside it.

Reads only: nothing in the home is written, no lock is taken and no attempt is counted. Run it while nothing writes to
the vault, or on a copy. The log's keys open every entry and could make others: give them to nobody you do not trust.

A log and its state that were put back together to what they were before cannot be told from an unchanged log.

Exit status: 0 as it was written, 1 failed, 2 wrong usage, 3 wrong passcode or phrase, 5 not as it was written, 6 not found.
"""

import argparse
import hmac
import importlib.util
import json
import os
import struct
import sys

SLOT, BOX, TAG = 192, 8, 176
PER_SEGMENT, MOST = 8191, 1 << 24
LIVE, BACKUP, RESTORED = 1, 2, 3
CREATED, RESTARTED, ROTATED, ALTERED, MISSED, LEVEL_CHANGED = 1, 2, 3, 4, 5, 72
RUN_KINDS = ("refused", "repeated", "wrongPhrase", "turnedAway", "biometricFailed", "backedUp", "rollbackReported")
# Words of one byte, by what it is called; a number without a word is an error.
METHODS = ("", "passcode", "recoveryPhrase", "", "pin", "biometrics", "devicePasscode")
REASONS = (
    "", "requested", "idle", "timeout", "background", "system", "suspend", "ended", "wipe", "userSwitch",
    "lidClosed", "minimised", "panic", "clock",
)  # fmt: skip
RESTARTS = ("", "nothingFound", "stateLost", "backup", "restored", "newKeys")
ALTERATIONS = ("", "missing", "replaced", "cut", "changed", "extended", "stateBehind", "keyReplaced")
STEPS = ("", "biometrics", "devicePasscode", "appPasscode", "recoveryPhrase", "openCompartment")
CONDITIONS = (
    "unavailable", "notEnrolled", "systemLockout", "hardwareBusy", "failed", "expired", "requested", "cancelled",
)  # fmt: skip
RULES = (
    "attemptLimit", "delays", "selfDestruct", "lockTiming", "collectionMinima", "padlock", "useFaceID",
    "biometricFailures", "countdown", "fallback", "remember",
)  # fmt: skip
LEVELS = ("device", "owner", "secret")
FLOORS = ("", "lower", "otherVault", "unreadable")
# Every event by its code: its word, then its fields as (kind, name, words).
RUN, DIGEST = (("run", ""),), (("digest", "digest"),)
EVENTS = {
    1: ("created",),
    2: ("restarted", ("word", "reason", RESTARTS), ("link", ""), ("u64", "found"), ("u32", "refused"),
        ("u32", "unsettled"), ("hash", "")),
    3: ("rotated", ("link", "")),
    4: ("altered", ("word", "kind", ALTERATIONS), ("link", ""), ("u64", "position")),
    5: ("missed", ("u32", "count"), ("i64", "since")),
    16: ("unlocked", ("word", "method", METHODS), ("u32", "refused")),
    17: ("confirmed",),
    18: ("locked", ("word", "reason", REASONS)),
    19: ("unsettled", ("u32", "count")),
    20: ("fallbackUsed", ("word", "step", STEPS), ("word", "because", CONDITIONS)),
    21: ("enrollmentChanged", ("word", "step", STEPS[:3])),
    **{32 + number: (name, *RUN) for number, name in enumerate(RUN_KINDS)},
    48: ("runEnded", *RUN),
    64: ("policyChanged", ("bits", "keys", RULES)),
    65: ("passcodeChanged",),
    66: ("rekeyed", ("u32", "epoch")),
    67: ("recovered", ("flag", "headerWasAltered")),
    68: ("recoveryPhraseIssued",),
    69: ("recoveryPhraseRemoved",),
    70: ("pinEnrolled",),
    71: ("pinRemoved",),
    72: ("levelChanged", ("word", "from", LEVELS), ("word", "to", LEVELS)),
    73: ("levelContradicted",),
    74: ("floorReplaced", ("word", "kind", FLOORS), ("word", "was", LEVELS)),
    75: ("recordsSetAside", ("u32", "count")),
    80: ("selfDestructArmed",),
    81: ("selfDestructEnabled",),
    82: ("selfDestructCancelled",),
    83: ("selfDestructDisabled",),
    84: ("wipeBegun", ("flag", "isDeliberate")),
    96: ("deviceLinked", *DIGEST),
    97: ("deviceUnlinked", *DIGEST),
    98: ("identityCreated", *DIGEST),
    99: ("identityRotated", *DIGEST),
    100: ("identityRecovered", *DIGEST),
    101: ("identityDeleted", *DIGEST),
    112: ("inboxMigrated", ("u32", "count")),
    114: ("drill", ("flag", "passed")),
}  # fmt: skip


def load(name):
    """A script of this folder as a module; nothing is written beside it."""
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), name + ".py")
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


holdfast = load("holdfast_decrypt")
Damaged, Failure, Reader = holdfast.Damaged, holdfast.Failure, holdfast.Reader
keyed = holdfast.blake3_keyed


# ---------------------------------------------------------------------------------------------------------------------
# Keys and entries.


def following(key):
    return keyed(key, b"holdfast/1/log-next")


def evolved(key, count):
    for _ in range(count):
        key = following(key)
    return key


class Key:
    """The log key of one epoch: a chain's first key follows from it, and the private key of what entries say."""

    def __init__(self, vault, root):
        self.root, self.private = root, holdfast.private_key(vault, root, b"holdfast/1/log-scalar")
        self.public = holdfast.compressed(self.private)

    def first(self, vault, chain):
        return keyed(self.root, b"holdfast/1/log-chain" + vault + chain)


class Link:
    """Which segment lies before another."""

    def __init__(self, reader):
        present = reader.integer(1)
        self.chain, self.first = reader.take(16), reader.integer(8)
        reader.check(present <= 1 and (present or not any(self.chain) and self.first == 0) and self.first < MOST)
        self.present = present == 1

    def names(self, segment):
        return self.present and segment is not None and (self.chain, self.first) == (segment.chain, segment.first)


class Entry:
    """What is in one slot. Only what a writer writes is read; the rest must be zeros."""

    def __init__(self, index, plaintext):
        reader = Reader(plaintext, f"entry {index}")
        reader.check(reader.integer(1) == 1)
        self.index, self.code = index, reader.integer(1)
        reader.check(self.code in EVENTS)
        self.time, self.boot, self.milliseconds = struct.unpack("<q16sQ", reader.take(32))
        self.details, self.link = {}, None
        for field in EVENTS[self.code][1:]:
            self.read(reader, *field)
        reader.check(self.code != ROTATED or self.link.present)
        reader.check(self.code != LEVEL_CHANGED or self.details["from"] != self.details["to"])
        reader.check(self.details.get("reason") == "newKeys" or self.code != RESTARTED or not any(self.digest))
        reader.check(not any(reader.rest()))

    def read(self, reader, kind, name, words=()):
        """One field of an event."""
        if kind == "word":
            number = reader.integer(1)
            reader.check(number < len(words) and words[number])
            self.details[name] = words[number]
        elif kind == "u32":
            self.details[name] = reader.integer(4)
        elif kind == "u64":
            self.details[name] = reader.integer(8)
        elif kind == "i64":
            self.details[name] = struct.unpack("<q", reader.take(8))[0]
        elif kind == "flag":
            number = reader.integer(1)
            reader.check(number <= 1)
            self.details[name] = number == 1
        elif kind == "digest":
            self.details[name] = reader.take(32).hex()
        elif kind == "hash":
            self.digest = reader.take(32)
        elif kind == "link":
            self.link = Link(reader)
            if self.link.present:
                self.details["previousFirst"] = self.link.first
        elif kind == "run":
            counts = [reader.integer(4) for _ in RUN_KINDS]
            self.details.update({f"{name}Count": count for name, count in zip(RUN_KINDS, counts) if count})
            self.details["since"] = struct.unpack("<q", reader.take(8))[0]
        elif kind == "bits":
            bits = reader.integer(4)
            reader.check(bits < 1 << len(words))
            self.details[name] = [word for number, word in enumerate(words) if bits >> number & 1]

    @property
    def begins(self):
        return self.code in (ROTATED, ALTERED) or self.code in (CREATED, RESTARTED) and self.index == 0

    def description(self):
        return {
            "entry": self.index, "event": EVENTS[self.code][0], "time": self.time, "boot": self.boot.hex(),
            "bootMilliseconds": self.milliseconds, **self.details,
        }  # fmt: skip


class Segment:
    """One file of entries. `end` is the index behind the last one that was proved, `rest` what stands behind it."""

    def __init__(self, data, keys, vault, expected=None):
        self.entries, self.findings, self.vault, self.rest, self.data = [], [], vault, 0, data
        front = self.front(data[:SLOT], vault)
        if front and expected and front[2] not in keys:
            front = None
        if front is None and expected is None:
            raise Damaged("the front of a segment was changed")
        self.chain, self.first, self.epoch = front or expected
        if self.epoch not in keys:
            raise Damaged("the key of a segment was forgotten")
        self.key = keys[self.epoch]
        if front is None:
            self.find("changed", self.first, "the front of a segment was changed")
        self.end = self.first
        self.tries = 20_000
        key = evolved(self.key.first(vault, self.chain), self.first)
        offset = SLOT
        while offset < len(data):
            if not self.proves(data, offset, self.end, key):
                place = self.search(data, offset, key)
                if place is None:
                    self.rest = len(data) - offset
                    break
                self.report(offset, *place)
                offset, index = place
                key, self.end = evolved(key, index - self.end), index
                continue
            self.take(data[offset : offset + SLOT])
            key, self.end, offset = following(key), self.end + 1, offset + SLOT

    @staticmethod
    def front(data, vault):
        if len(data) != SLOT or data[:8] != b"HFSECLOG" or holdfast.blake3(data[:-32]) != data[-32:]:
            return None
        version, found, chain, first, epoch = struct.unpack("<I16s16sQI", data[8:56])
        if version != 1 or found != vault or first >= MOST or any(data[56:-32]):
            return None
        return chain, first, epoch

    def find(self, kind, position, words):
        self.findings.append((kind, position, words))

    def associated(self, index):
        return self.vault + self.chain + struct.pack("<QI", index, holdfast.FORMAT_VERSION)

    def proves(self, data, offset, index, key):
        """Whether the slot was written for this place."""
        slot = data[offset : offset + SLOT]
        if len(slot) != SLOT or int.from_bytes(slot[:BOX], "little") != index:
            return False
        tag = keyed(keyed(key, b"holdfast/1/log-entry"), self.associated(index) + slot[BOX:TAG])
        return hmac.compare_digest(tag[:16], slot[TAG:])

    def take(self, slot):
        """The next entry, which was proved: what it says was sealed to the log's public key."""
        try:
            box = slot[BOX:TAG]
            plaintext = holdfast.open_sealed_box(
                self.vault, self.key.private, box, self.associated(self.end), "an entry")
            self.entries.append(Entry(self.end, plaintext))
        except Damaged:
            self.find("unreadable", self.end, f"entry {self.end} was not sealed to this vault's key")

    def search(self, data, start, key):
        """The next entry that proves itself, first at the places of whole slots."""
        for step in (SLOT, 1):
            for offset in range(start, len(data) - SLOT + 1, step):
                index = int.from_bytes(data[offset : offset + 8], "little")
                if not self.end <= index < self.first + PER_SEGMENT:
                    continue
                self.tries -= 1
                if self.tries < 0:
                    return None
                if self.proves(data, offset, index, evolved(key, index - self.end)):
                    return offset, index
        return None

    def report(self, start, offset, index):
        if offset == start:
            self.find("missing", self.end, f"{span(self.end, index)} missing")
        elif index == self.end:
            self.find("inserted", self.end, f"{offset - start} bytes were added before entry {index}")
        else:
            self.find("changed", self.end, f"{span(self.end, index)} changed")

    def has_slots(self, count):
        return self.rest > 0 and self.rest == count * SLOT

    @property
    def begin(self):
        """The entry that begins it."""
        if self.entries and self.entries[0].index == self.first and self.entries[0].begins:
            return self.entries[0]
        return None


def span(first, end):
    return f"entry {first} is" if end - first == 1 else f"entries {first} to {end - 1} are"


class State:
    """The sector that is valid and the furthest; `present` is false where there is none."""

    def __init__(self, data, vault):
        self.present, self.next = False, 0
        for offset in (0, 4096):
            sector = data[offset : offset + 512]
            if len(sector) != 512 or holdfast.blake3(sector[:480]) != sector[480:] or sector[:8] != b"HFLOGKEY":
                continue
            version, kind, found, chain, first, next_index, key = struct.unpack("<II16s16sQQ32s", sector[8:96])
            epoch, point = struct.unpack("<I33s", sector[204:241])
            known = version == 1 and kind in (LIVE, BACKUP, RESTORED) and found == vault
            in_range = first <= next_index <= MOST and next_index - first <= PER_SEGMENT
            if known and in_range and (not self.present or next_index > self.next):
                self.present, self.kind, self.chain, self.first = True, kind, chain, first
                self.next, self.key, self.epoch, self.point = next_index, key, epoch, point


# ---------------------------------------------------------------------------------------------------------------------
# The log as a whole.


class Log:
    def __init__(self, home, vault, keys, changing):
        self.entries, self.findings, self.notes, self.vault, self.keys = [], [], [], vault, keys
        self.newest, self.changing = max(keys), changing
        state = State(self.read(home, "log.state") or b"", vault)
        expected = (state.chain, state.first, state.epoch or self.newest) if state.present else None
        data, old = self.files(home, state)
        newest = self.segment(data, expected)
        link = newest.begin.link if newest and newest.begin else None
        previous = self.segment(
            old, (link.chain, link.first, newest.epoch) if link and link.present else None)
        if newest is None:
            if previous:
                self.take(previous)
            self.find("missing", expected[1] if expected else 0, "the newest part of the log is not there")
            return
        if previous and not self.belongs(previous, newest):
            previous = None
        if previous:
            self.take(previous)
        if newest.begin:
            self.check_seam(newest, previous)
            if previous and newest.begin.details.get("reason") == "newKeys":
                self.check_digest(newest.begin, previous)
        self.take(newest)
        self.check_state(state, newest)

    @staticmethod
    def read(home, name):
        try:
            with open(os.open(os.path.join(home, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
                return file.read(2 << 20)
        except OSError:
            return None

    def files(self, home, state):
        """The newest segment and the one before, also where a writer was killed before it renamed them."""
        data, new, old = (self.read(home, name) for name in ("log", "log.new", "log.old"))

        def is_newest(found):
            front = Segment.front(found[:SLOT], self.vault) if found else None
            return front is not None and state.present and front[:2] == (state.chain, state.first)

        if is_newest(new) and not is_newest(data):
            return (new, data or old)
        return (data or new, old)

    def segment(self, data, expected):
        try:
            return Segment(data, self.keys, self.vault, expected) if data is not None else None
        except Damaged:
            return None

    def find(self, kind, position, words):
        self.findings.append((kind, position, words))

    def take(self, segment):
        self.findings += segment.findings
        for entry in segment.entries:
            self.judge(entry)
            self.entries.append(entry)
        if not segment.begin:
            self.find("changed", segment.first, f"entry {segment.first} is not the beginning of a part")

    @staticmethod
    def belongs(previous, newest):
        if newest.begin and newest.begin.link and newest.begin.link.names(previous):
            return True
        return previous.chain == newest.chain and (newest.begin is None or previous.first < newest.first)

    def check_seam(self, newest, previous):
        begin, end = newest.begin, newest.first
        link = begin.link if begin.link and begin.link.present else None
        other_chain = link is not None and link.chain != newest.chain
        if begin.code == RESTARTED:
            end = begin.details["found"]
        elif begin.code == ALTERED and other_chain:
            end = link.first
        if previous is None:
            if link and link.first < end:
                self.find("missing", link.first, f"{span(link.first, end)} missing")
            return
        if previous.end < end:
            lost = end - previous.end
            kind = "changed" if previous.has_slots(lost) else "missing"
            self.find(kind, previous.end, f"{span(previous.end, end)} {kind}")
            if kind == "changed":
                return
        elif previous.chain == newest.chain and previous.end > end:
            self.find("state", end, f"entry {end} was written twice: the log's state had been put back")
        if previous.rest > 0 and not ((begin.code == RESTARTED or other_chain) and previous.rest <= SLOT):
            self.find("inserted", previous.end, f"{previous.rest} bytes stand behind entry {previous.end}")

    def check_digest(self, begin, previous):
        """What was written under older keys must be what it was when the present ones came."""
        found = begin.details["found"]
        size = SLOT * (1 + found - min(previous.first, found))
        if previous.end > found:
            self.find("inserted", found, "entries were added under keys that were no longer the vault's")
        if len(previous.data) >= size and holdfast.blake3(previous.data[:size]) != begin.digest:
            self.find("changed", previous.first, "the part from before the vault's new keys was changed")

    def judge(self, entry):
        if entry.code == RESTARTED:
            reason = entry.details["reason"]
            if reason in ("nothingFound", "stateLost"):
                self.find("restarted", entry.index, f"the log was begun anew ({reason})")
            elif reason != "newKeys":
                self.notes.append(f"this vault is a copy ({reason}); its log was begun anew")
        elif entry.code == ALTERED:
            words = f"the files had been altered ({entry.details['kind']}; noticed at entry {entry.index})"
            self.find("altered", entry.details["position"], words)
        elif entry.code == MISSED:
            self.notes.append(f"before entry {entry.index}, {entry.details['count']} events could not be written")

    def check_state(self, state, newest):
        end = newest.end
        if not state.present:
            return self.find("state", end, "the log's state is lost: entries cut off at its end are not noticed")
        if newest.epoch != self.newest and not self.changing:
            self.find("state", newest.first, "the newest part was written under keys that are no longer the vault's")
        if state.kind == LIVE and (state.epoch, state.point) != (newest.epoch, newest.key.public):
            self.find("state", state.next, "the state has a public key that is not the vault's")
        key = evolved(newest.key.first(self.vault, newest.chain), state.next)
        if state.chain != newest.chain or state.kind == LIVE and state.key != key:
            return self.find("state", min(end, state.next), "the state is not that of this log")
        if end < state.next:
            kind = "changed" if newest.has_slots(state.next - end) else "cut"
            self.find(kind, end, f"{span(end, state.next)} {kind}")
            if kind == "changed":
                return None
        if state.kind != LIVE:
            return self.notes.append("this vault is a copy; its log begins anew at the next unlock")
        if end > state.next + 1:
            # Whether the machine was started since cannot be told from here.
            self.notes.append(f"the state is {end - state.next} entries older than the log: put back, or a power cut")
        if newest.rest:
            if newest.rest <= SLOT and end == state.next:
                return self.notes.append("an entry was cut short; the next write drops it")
            self.find("inserted", end, f"{newest.rest} bytes stand behind the last entry")
        return None


# ---------------------------------------------------------------------------------------------------------------------
# The command.


def log_keys(home, options):
    """The vault's id, the log's keys by epoch, and whether the vault's keys are being changed."""
    header = holdfast.read_header(home)
    if options.key_fd is not None:
        try:
            text = bytes.fromhex(holdfast.read_secret(options.key_fd, "").decode())
        except ValueError:
            text = b""
        if not text or len(text) % 36:
            raise Failure("the log's keys have 72 hexadecimal digits each")
        roots = dict(struct.unpack("<I32s", text[place : place + 36]) for place in range(0, len(text), 36))
        return header.vault, keys_of(header, roots), False
    keybag = holdfast.open_keybag(header, *holdfast.secret_for(options, header))
    roots = {epoch: key for (kind, epoch), key in keybag.items() if kind == holdfast.LOG}
    if not roots:
        raise Damaged("the keybag has no key for the security log")
    changing = sum(kind == holdfast.RECORDS for kind, _ in keybag) > 1 and (holdfast.LOG_REACHED, max(roots)) not in keybag
    return header.vault, keys_of(header, roots), changing


def keys_of(header, roots):
    return {epoch: Key(header.vault, root) for epoch, root in roots.items()}


def main():
    parser = argparse.ArgumentParser(description="Verifies the security log of a Holdfast vault without Holdfast.")
    secret = parser.add_mutually_exclusive_group()
    secret.add_argument("--passcode-fd", type=int, metavar="N")
    secret.add_argument("--phrase", action="store_true")
    secret.add_argument("--phrase-fd", type=int, metavar="N")
    secret.add_argument("--share-fd", type=int, metavar="N")
    secret.add_argument("--key-fd", type=int, metavar="N")
    parser.add_argument("home")
    parser.add_argument("what", nargs="?", choices=["entries"])
    options = parser.parse_args()
    try:
        log = Log(options.home, *log_keys(options.home, options))
    except Failure as failure:
        print(f"holdfast_log_verify: {failure}", file=sys.stderr)
        return failure.status
    if options.what == "entries":
        for entry in log.entries:
            print(json.dumps(entry.description()))
    for kind, position, words in log.findings:
        print(f"{kind} at entry {position}: {words}")
    for words in log.notes:
        print(f"note: {words}")
    kept = f"{log.entries[0].index} to {log.entries[-1].index}" if log.entries else "none"
    result = "not as it was written" if log.findings else "as it was written"
    print(f"{len(log.entries)} entries ({kept}): {result}")
    return 5 if log.findings else 0


if __name__ == "__main__":
    sys.exit(main())
