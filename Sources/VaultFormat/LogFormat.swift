/// Sizes and names of the security log (constructions.md 8).
///
/// A segment is a front and then entries, each in a slot of the same size, so that nothing can be told from sizes and
/// an entry's place follows from its index.
package enum LogFormat {
    /// Bytes of a front and of an entry.
    package static let slotSize = 192
    /// What the entry says, sealed to the log's public key.
    package static let boxRange = 8..<176
    /// What proves the entry, under the key of its place.
    package static let tagRange = 176..<192
    package static let tagSize = tagRange.count
    /// Bytes of a compressed point on P-256.
    package static let pointSize = 33
    package static let plaintextSize = boxRange.count - pointSize - 16
    /// With its front a full segment has 1.5 MiB.
    package static let entriesPerSegment: UInt64 = 8191
    /// Entries of one chain. A verifier takes a step for each, so that more would only let others keep it busy.
    package static let mostEntries: UInt64 = 1 << 24
    /// Entries after which an unlocked vault begins another chain: an unlock computes a chain's keys anew, some 10 ms.
    package static let longestChain: UInt64 = 1 << 17
    static let version: UInt32 = 1
    static let checksumSize = 32

    /// Where an entry lies in a segment.
    package static func offset(of index: UInt64, first: UInt64) -> UInt64 {
        UInt64(slotSize) * (1 + (index - min(first, index)))
    }

    /// What is authenticated beside an entry, by its tag and in its box: vault id, chain, index, format version.
    package static func associatedData(vault: VaultID, chain: LogChain, index: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(vault.bytes)
        writer.append(chain.bytes)
        writer.integer(index)
        writer.integer(Header.formatVersion)
        return writer.bytes
    }
}

/// 16 random bytes that name one chain of keys; a log that was lost continues as another chain.
package struct LogChain: Sendable, Hashable, CustomStringConvertible {
    package let bytes: [UInt8]

    /// Takes 16 bytes; nil for any other size.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    package var description: String { Hexadecimal.encode(bytes) }

    static let none = LogChain(zeros: ())

    private init(zeros: ()) { bytes = [UInt8](repeating: 0, count: 16) }
}

/// Which segment lies before this one, so that the verifier knows where the kept part begins.
package struct LogLink: Sendable, Hashable {
    package let chain: LogChain
    /// Index of that segment's first entry.
    package let first: UInt64

    package init(chain: LogChain, first: UInt64) {
        self.chain = chain
        self.first = first
    }
}

/// The first slot of a segment, in clear. What it says is proved by the entry behind it.
package struct LogFront: Sendable, Hashable {
    static let magic = Array("HFSECLOG".utf8)

    package let vault: VaultID
    package let chain: LogChain
    /// Index of the entry that follows.
    package let first: UInt64
    /// Of the log key that the chain begins with and that its entries are sealed to.
    package let epoch: UInt32

    package init(vault: VaultID, chain: LogChain, first: UInt64, epoch: UInt32) {
        self.vault = vault
        self.chain = chain
        self.first = first
        self.epoch = epoch
    }

    package var link: LogLink { LogLink(chain: chain, first: first) }

    package func encoded(checksum: (RawSpan) -> [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(LogFront.magic)
        writer.integer(LogFormat.version)
        writer.append(vault.bytes)
        writer.append(chain.bytes)
        writer.integer(first)
        writer.integer(epoch)
        return writer.checked(to: LogFormat.slotSize, checksum)
    }

    /// - Throws: `wrongSize`, `wrongMagic`, `checksumMismatch`, `newerVersion`, `invalid`.
    package init(parsing bytes: [UInt8], checksum: (RawSpan) -> [UInt8]) throws(FormatError) {
        guard bytes.count == LogFormat.slotSize else { throw .wrongSize }
        guard bytes.starts(with: LogFront.magic) else { throw .wrongMagic }
        var reader = try ByteReader(checking: bytes, from: LogFront.magic.count, checksum)
        let version = try reader.integer(UInt32.self)
        guard version == LogFormat.version else { throw .newerVersion(version) }
        vault = try reader.vaultID()
        guard let chain = LogChain(bytes: try reader.bytes(16)) else { throw .wrongSize }
        self.chain = chain
        first = try reader.integer(UInt64.self)
        guard first < LogFormat.mostEntries else { throw .invalid(field: "log index") }
        epoch = try reader.integer(UInt32.self)
        try reader.expectZeros("log padding")
    }
}
