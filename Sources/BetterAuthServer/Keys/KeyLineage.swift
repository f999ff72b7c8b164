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

    /// What a store remembers of them.
    package var mark: KeyMark {
        KeyMark(digest: unsafe Derivations.blake3(name.span.bytes), generation: generation)
    }
}

/// The keys that the accounts of a store belong to: whoever loses or mixes up the file of the keys is told so before any
/// client meets a key that it cannot know.
package struct KeyMark: Sendable, Hashable {
    package let digest: DigestText
    package let generation: UInt64

    package init(digest: DigestText, generation: UInt64) {
        self.digest = digest
        self.generation = generation
    }

    /// Digest (32), generation (8, big-endian).
    package var bytes: [UInt8] {
        digest.rawBytes
            + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: generation >> UInt64($0)) }
    }

    /// Nil for what ``bytes`` never is.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == DigestText.rawSize + 8,
            let digest = unsafe DigestText(raw: bytes.span.bytes.extracting(0..<DigestText.rawSize))
        else { return nil }
        self.init(digest: digest, generation: bytes[DigestText.rawSize...].reduce(0) { $0 << 8 | UInt64($1) })
    }
}
