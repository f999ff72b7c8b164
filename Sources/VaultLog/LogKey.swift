internal import Cryptography
internal import SecretMemory
internal import VaultFormat
internal import VaultStorage

/// The key of one place in a chain of entries: the keys behind it follow from it, those before it do not.
struct LogKey: ~Copyable, Sendable {
    private var bytes: SecretBytes
    private static let rootLabel = Array("holdfast/1/log-chain".utf8)
    private static let nextLabel = Array("holdfast/1/log-next".utf8)
    private static let entryLabel = Array("holdfast/1/log-entry".utf8)

    /// The key of a chain's first entry, from the keybag's log key.
    init(root: RawSpan, vault: VaultID, chain: LogChain) throws(VaultError) {
        let input = LogKey.rootLabel + vault.bytes + chain.bytes
        bytes = try LogKey.hash(input, key: root)
    }

    /// The key that a state holds, 32 bytes.
    init(copying key: RawSpan) throws(VaultError) {
        bytes = try secretMemory(SecretBytes(copying: key))
    }

    private init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

    borrowing func copy() throws(VaultError) -> LogKey {
        LogKey(try secretMemory(bytes.copy()))
    }

    /// Lends the 32 bytes, for the state.
    borrowing func withBytes<R>(_ body: (RawSpan) -> R) -> R { bytes.withBytes(body) }

    borrowing func isEqual(to other: borrowing LogKey) -> Bool { bytes.isEqual(to: other.bytes) }

    /// Advances to the next entry. The key before is overwritten.
    mutating func evolve() throws(VaultError) {
        var digest = try crypto(
            bytes.withBytes { key throws(CryptographyError) in
                try LogKey.nextLabel.withRawSpan { label throws(CryptographyError) in
                    try BLAKE3.keyedHash(label, key: key)
                }
            })
        bytes.withMutableBytes { target in
            digest.withBytes { target.store(copying: $0.extracting(0..<32), at: 0) }
        }
        digest.withMutableBytes { $0.wipe() }
    }

    mutating func evolve(by count: UInt64) throws(VaultError) {
        var left = count
        while left > 0 {
            try evolve()
            left -= 1
        }
    }

    private static func hash(_ input: [UInt8], key: RawSpan) throws(VaultError) -> SecretBytes {
        var digest = try crypto(
            input.withRawSpan { input throws(CryptographyError) in try BLAKE3.keyedHash(input, key: key) })
        defer { digest.withMutableBytes { $0.wipe() } }
        return try secretMemory(
            digest.withBytes { digest throws(SecretMemoryError) in try SecretBytes(copying: digest) })
    }

    /// A whole slot: what the entry says is sealed to `recipient`, so that writing entries does not allow reading them,
    /// and the box has this place's tag.
    borrowing func seal(
        _ entry: LogEntry, at index: UInt64, vault: VaultID, chain: LogChain, to recipient: P256PublicKey
    ) throws(VaultError) -> [UInt8] {
        let plaintext = entry.encoded()
        let associated = LogFormat.associatedData(vault: vault, chain: chain, index: index)
        let box = try crypto { () throws(CryptographyError) in
            let empty: [UInt8] = []
            return try unsafe P256SealedBox.seal(
                plaintext.span.bytes, empty.span.bytes, to: recipient, context: vault.bytes.span.bytes,
                authenticating: associated.span.bytes)
        }
        let front = (0..<8).map { UInt8(truncatingIfNeeded: index >> UInt64(8 * $0)) }
        return front + box + (try tag(associated + box))
    }

    /// Whether a slot was written for this place. Needs no key that opens it.
    borrowing func proves(_ slot: RawSpan, at index: UInt64, vault: VaultID, chain: LogChain) -> Bool {
        guard slot.byteCount == LogFormat.slotSize, slot.integer(at: 0, as: UInt64.self) == index else { return false }
        let box = slot.extracting(LogFormat.boxRange)
        let covered =
            LogFormat.associatedData(vault: vault, chain: chain, index: index)
            + box.copied(0..<box.byteCount)
        guard let tag = try? tag(covered) else { return false }
        return unsafe constantTimeEquals(tag.span.bytes, slot.extracting(LogFormat.tagRange))
    }

    /// The first half of BLAKE3 keyed with this place's own key.
    private borrowing func tag(_ covered: [UInt8]) throws(VaultError) -> [UInt8] {
        let key = try bytes.withBytes { key throws(VaultError) in try LogKey.hash(LogKey.entryLabel, key: key) }
        let digest = try crypto(
            key.withBytes { key throws(CryptographyError) in
                try unsafe BLAKE3.keyedHash(covered.span.bytes, key: key)
            })
        return Array(digest.bytes.prefix(LogFormat.tagSize))
    }
}
