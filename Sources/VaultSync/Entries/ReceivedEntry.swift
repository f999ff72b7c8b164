internal import SecretMemory
package import SyncFormat
internal import VaultFormat

// The order of the checks is in the types: what was received has a signer only as a `SignedEntry`, a place in its
// stream only as a `VerifiedEntry`, and only that one is opened.

/// An entry of a stream as it came over a road: its size and its front are possible. Nothing in it is believed.
package struct ReceivedEntry: Sendable {
    let envelope: Envelope

    /// - Throws: `format`.
    package init(parsing bytes: [UInt8]) throws(SyncError) {
        let envelope = try Envelope(parsing: bytes)
        guard envelope.front.isOfStream else { throw .format(.invalid(field: "entry kind")) }
        self.envelope = envelope
    }

    package var front: EntryFront { envelope.front }
    package var bytes: [UInt8] { envelope.bytes }

    /// One that this device wrote and kept in its vault.
    func reopened(with key: borrowing EpochKey, by member: SyncMemberID) throws(SyncError) -> OpenedEntry {
        let head = StreamHead(stream: front.stream, number: front.number, hash: envelope.hash)
        return try VerifiedEntry(envelope: envelope, member: member, head: head).open(with: key)
    }

    /// - Parameters:
    ///   - signers: Those whose entries count.
    ///   - member: Whose the stream is, where it was met before: nobody else's signature is looked at.
    /// - Throws: `notAuthentic` where nobody of them signed it.
    package func signed(by signers: SyncSigners, _ member: SyncMemberID? = nil) throws(SyncError) -> SignedEntry {
        guard let signer = signers.signer(of: envelope, member) else { throw .notAuthentic("entry signature") }
        return SignedEntry(envelope: envelope, member: signer)
    }
}

/// An entry whose signer is known: evidence, where there are two with one number.
package struct SignedEntry: Sendable {
    let envelope: Envelope
    /// Who signed it.
    package let member: SyncMemberID
    /// The entry as a head of its stream.
    package let head: StreamHead

    fileprivate init(envelope: Envelope, member: SyncMemberID) {
        (self.envelope, self.member) = (envelope, member)
        head = StreamHead(stream: envelope.front.stream, number: envelope.front.number, hash: envelope.hash)
    }

    package var front: EntryFront { envelope.front }
    package var bytes: [UInt8] { envelope.bytes }

    /// What this entry is to the reader of its stream.
    package func judged(by reader: StreamReader) -> EntryVerdict {
        precondition(reader.stream == front.stream, "the reader of another stream")
        return verdict(reader.step(number: front.number, before: front.before, hash: head.hash))
    }

    /// What this entry is to somebody who reads a snapshot and does not know yet whether it is of the chain that they
    /// know (``StreamReader/resume(marks:before:)`` tells, once the last part was read).
    package func judged(by run: SnapshotRun) -> EntryVerdict {
        precondition(run.stream == front.stream, "the run of another stream")
        guard front.kind == .snapshot else { return .gap(missing: run.next) }
        return verdict(run.step(number: front.number, before: front.before, hash: head.hash))
    }

    private func verdict(_ step: StreamReader.Step) -> EntryVerdict {
        switch step {
        case .next: .next(VerifiedEntry(envelope: envelope, member: member, head: head))
        case .known: .known
        case .gap(let number): .gap(missing: number)
        case .fork(let number): .fork(at: number, evidence: self)
        case .behind(let last): .behind(last: last)
        }
    }
}

/// What an entry is to a reader.
package enum EntryVerdict: Sendable {
    case next(VerifiedEntry)
    case known
    case gap(missing: UInt64)
    /// Its number is there twice, and this is the second.
    case fork(at: UInt64, evidence: SignedEntry)
    case behind(last: UInt64)
}

/// An entry whose signature and place in its stream were checked. Only such a one is decrypted.
package struct VerifiedEntry: Sendable {
    let envelope: Envelope
    /// Whose it is.
    package let member: SyncMemberID
    package let head: StreamHead

    fileprivate init(envelope: Envelope, member: SyncMemberID, head: StreamHead) {
        (self.envelope, self.member, self.head) = (envelope, member, head)
    }

    package var front: EntryFront { envelope.front }

    /// - Parameter key: That of the front's epoch.
    /// - Throws: `notAuthentic` for another key, or where entry 1 names another member than the one that signed it;
    ///   `format` for what no writer writes: then the stream is frozen, since its member did so.
    package func open(with key: borrowing EpochKey) throws(SyncError) -> OpenedEntry {
        let plaintext = try envelope.open(under: key.bytes, "entry")
        let body = try format { () throws(FormatError) in
            try plaintext.withBytes { bytes throws(FormatError) in try EntryBody(parsing: bytes, of: front) }
        }
        if let named = body.contents.member, named != member { throw .notAuthentic("entry member") }
        return OpenedEntry(plaintext: plaintext, body: body, entry: self)
    }
}

/// What a verified entry says. It is taken only once all heads that it names were (``Delivery``).
package struct OpenedEntry: ~Copyable, Sendable {
    private let plaintext: SecretBytes
    private let body: EntryBody
    package let entry: VerifiedEntry

    fileprivate init(plaintext: consuming SecretBytes, body: EntryBody, entry: VerifiedEntry) {
        self.plaintext = plaintext
        (self.body, self.entry) = (body, entry)
    }

    package var contents: EntryContents { body.contents }
    /// Changes in it.
    package var count: Int { body.changes.count }

    /// Lends the bytes of a change.
    package borrowing func withChange<R: ~Copyable, E: Error>(
        _ index: Int, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        let range = self.body.changes[index]
        return try plaintext.withBytes { bytes throws(E) in try body(bytes.extracting(range)) }
    }

    /// Lends the list of the pieces with the hashes of the stream, which only the last part of a snapshot has; nothing
    /// where there is none.
    package borrowing func withHashList<R: ~Copyable, E: Error>(
        _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        let range = self.body.hashList ?? 0..<0
        return try plaintext.withBytes { bytes throws(E) in try body(bytes.extracting(range)) }
    }
}
