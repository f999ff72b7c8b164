import SecretMemory
import SeededNumbers
import SyncFormat
import TestSupport
import VaultFormat

@testable import VaultSync

func repeated(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }

func id<Named>(_ byte: UInt8) -> SyncID<Named> {
    guard let id = SyncID<Named>(repeated(byte, 16)) else { preconditionFailure("16 bytes") }
    return id
}

extension [UInt8] {
    func flipped(_ bit: Int) -> [UInt8] {
        var copy = self
        copy[bit / 8] ^= 1 << UInt8(bit % 8)
        return copy
    }
}

/// One bit of every byte; in `make check` every bit.
func bits(_ bytes: [UInt8], seed: UInt64 = 46) -> [Int] {
    var random = SeededGenerator(seed: seed)
    return TestExtent.isCheck
        ? Array(0..<bytes.count * 8) : bytes.indices.map { $0 * 8 + Int.random(in: 0..<8, using: &random) }
}

/// The error of a step of a sync; nil when there was none.
func syncError(_ body: () throws(SyncError) -> Void) -> SyncError? {
    do throws(SyncError) {
        try body()
        return nil
    } catch {
        return error
    }
}

/// A group of two, and its first roster.
struct Pair: ~Copyable {
    let group: SyncGroupID = id(1)
    let laptop: MemberKeys
    let phone: MemberKeys
    let key: EpochKey
    let first: SealedRoster
    let signers: SyncSigners

    init() throws(SyncError) {
        let laptop = try MemberKeys.generate()
        let phone = try MemberKeys.generate()
        let key = try EpochKey.generate()
        let members = [try laptop.record(name: "laptop"), try phone.record(name: "phone")]
        let first = try SealedRoster.seal(members, removed: [], group: id(1), after: nil, key: key, by: laptop)
        let signers = try SyncSigners(members)
        (self.first, self.signers) = (first, signers)
        self.laptop = laptop
        self.phone = phone
        self.key = key
    }

    /// An entry of the laptop's.
    func entry(
        _ changes: [[UInt8]], _ stream: StreamID = id(2), after head: StreamHead? = nil,
        contents: EntryContents? = nil
    ) throws -> SealedEntry {
        var contents = contents ?? EntryContents(time: 1000)
        contents.member = head == nil ? laptop.id : nil
        var draft = EntryDraft(contents)
        for change in changes {
            let isAdded = try change.withRaw { change throws(SyncError) in try draft.add(change) }
            precondition(isAdded, "no room")
        }
        let front = try EntryFront.fresh(
            contents.snapshot == nil ? .changes : .snapshot, stream, roster: first.roster, after: head)
        return try draft.seal(front, with: key, by: laptop)
    }

    func verified(_ bytes: [UInt8], _ reader: StreamReader) throws(SyncError) -> VerifiedEntry? {
        guard case .next(let entry) = try ReceivedEntry(parsing: bytes).signed(by: signers).judged(by: reader) else {
            return nil
        }
        return entry
    }
}

extension [UInt8] {
    func withRaw<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe body(span.bytes)
    }
}
