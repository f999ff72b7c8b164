package import BetterAuthMessages

/// Which keys a set is the successor of: a name that is made with the first keys and kept through every rotation, and a
/// count of the rotations.
package struct KeyLineage: Sendable, Hashable {
    static let size = 16

    let name: [UInt8]
    package internal(set) var generation: UInt64

    /// Those of a file, or nil for a name of another length.
    init?(name: [UInt8], generation: UInt64) {
        guard name.count == KeyLineage.size else { return nil }
        self.name = name
        self.generation = generation
    }

    /// That of new keys. It is no secret.
    package static func fresh() -> KeyLineage {
        KeyLineage(random: (0..<size).map { _ in UInt8.random(in: 0 ... .max) })
    }

    private init(random name: [UInt8]) {
        self.name = name
        generation = 0
    }

    /// Of its name.
    var digest: DigestText { unsafe Derivations.blake3(name.span.bytes) }
}

/// The keys that the accounts of a store belong to: whoever loses or mixes up the file of the keys is told so before
/// any client meets a key that it cannot know.
package struct KeyMark: Sendable, Hashable {
    /// Of the lineage's name.
    package let digest: DigestText
    package let generation: UInt64
    /// Of the keys that the last rotation made, since two copies of one file can be rotated apart. Nil in a mark
    /// written before that was written down.
    package let keys: DigestText?

    package init(digest: DigestText, generation: UInt64, keys: DigestText?) {
        self.digest = digest
        self.generation = generation
        self.keys = keys
    }

    /// Digest (32), generation (8, big-endian), where it is known the digest of the keys (32).
    package var bytes: [UInt8] {
        digest.rawBytes
            + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: generation >> UInt64($0)) }
            + (keys?.rawBytes ?? [])
    }

    /// Nil for what ``bytes`` never is.
    package init?(_ bytes: [UInt8]) {
        let (numberEnd, end) = (DigestText.rawSize + 8, 2 * DigestText.rawSize + 8)
        func digest(_ range: Range<Int>) -> DigestText? {
            unsafe DigestText(raw: bytes.span.bytes.extracting(range))
        }
        guard bytes.count == numberEnd || bytes.count == end, let first = digest(0..<DigestText.rawSize) else {
            return nil
        }
        let keys = bytes.count == end ? digest(numberEnd..<end) : nil
        guard (keys != nil) == (bytes.count == end) else { return nil }
        self.init(
            digest: first, generation: bytes[DigestText.rawSize..<numberEnd].reduce(0) { $0 << 8 | UInt64($1) },
            keys: keys)
    }
}

/// What keys are to a mark.
package enum KeyStanding: Sendable, Hashable {
    /// Those that it was made of.
    case same
    /// They are derived from them by rotations, or the mark does not say which these were.
    case later
    /// They were rotated since.
    case earlier
    /// Another lineage's, or those of a copy that was rotated apart.
    case foreign
}

extension ServerKeys {
    /// What a store remembers of them.
    package var mark: KeyMark {
        let (response, access, lineage) = ofOneMoment
        return KeyMark(
            digest: lineage.digest, generation: lineage.generation, keys: ServerKeys.digest(response, access, back: 0))
    }

    /// What they are to those of a mark.
    package func standing(to known: KeyMark) -> KeyStanding {
        let (response, access, lineage) = ofOneMoment
        guard lineage.digest == known.digest else { return .foreign }
        guard lineage.generation >= known.generation else { return .earlier }
        // The keys of that generation may be gone by now; then only its number is left.
        let then = Int(exactly: lineage.generation - known.generation)
            .flatMap { ServerKeys.digest(response, access, back: $0) }
        if let keys = known.keys, let then, keys != then { return .foreign }
        return lineage.generation == known.generation && known.keys != nil ? .same : .later
    }

    /// Of the two keys that one rotation made: each rotation adds one of each purpose.
    /// - Parameter back: How many rotations ago.
    /// - Returns: Nil when one of them is not there any more.
    private static func digest(_ response: KeySchedule, _ access: KeySchedule, back: Int) -> DigestText? {
        guard back < response.entries.count, back < access.entries.count else { return nil }
        let pair = [response, access].map { $0.entries[$0.entries.count - 1 - back].key.publicKey }
        let bytes = pair.flatMap(\.rawBytes)
        return unsafe Derivations.blake3(bytes.span.bytes)
    }
}
