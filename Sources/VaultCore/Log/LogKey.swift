internal import Cryptography
internal import SecretMemory
internal import VaultFormat

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
        bytes = try secretMemory { () throws(SecretMemoryError) in try SecretBytes(copying: key) }
    }

    private init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

    borrowing func copy() throws(VaultError) -> LogKey {
        LogKey(try secretMemory { () throws(SecretMemoryError) in try bytes.copy() })
    }

    /// Lends the 32 bytes, for the state.
    borrowing func withBytes<R>(_ body: (RawSpan) -> R) -> R { bytes.withBytes(body) }

    borrowing func isEqual(to other: borrowing LogKey) -> Bool { bytes.isEqual(to: other.bytes) }

    /// Goes on to the next entry. The key before is overwritten.
    mutating func evolve() throws(VaultError) {
        var digest = try crypto { () throws(CryptographyError) in
            try bytes.withBytes { key throws(CryptographyError) in
                try LogKey.nextLabel.withRawSpan { label throws(CryptographyError) in
                    try BLAKE3.keyedHash(label, key: key)
                }
            }
        }
        bytes.withMutableBytes { target in
            digest.withBytes { digest in
                for offset in stride(from: 0, to: 32, by: 8) {
                    target.store(digest.integer(at: offset, as: UInt64.self) ?? 0, at: offset)
                }
            }
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
        var digest = try crypto { () throws(CryptographyError) in
            try input.withRawSpan { input throws(CryptographyError) in try BLAKE3.keyedHash(input, key: key) }
        }
        defer { digest.withMutableBytes { $0.wipe() } }
        return try secretMemory { () throws(SecretMemoryError) in
            try digest.withBytes { digest throws(SecretMemoryError) in try SecretBytes(copying: digest) }
        }
    }

    private borrowing func cipher() throws(VaultError) -> AES256GCM {
        let key = try bytes.withBytes { key throws(VaultError) in try LogKey.hash(LogKey.entryLabel, key: key) }
        return try crypto { () throws(CryptographyError) in try AES256GCM(key: key) }
    }

    /// A whole slot. The nonce is random: an entry cut short is sealed again under the same key.
    borrowing func seal(
        _ entry: LogEntry, at index: UInt64, vault: VaultID, chain: LogChain
    ) throws(VaultError) -> [UInt8] {
        var cipher = try cipher()
        let plaintext = entry.encoded()
        let associated = LogFormat.associatedData(vault: vault, chain: chain, index: index)
        return try crypto { () throws(CryptographyError) in
            let nonceBytes = try SecureRandom.bytes(LogFormat.nonceRange.count)
            guard let nonce = unsafe Nonce96(copying: nonceBytes.span.bytes) else { throw .invalidSize }
            var box = [UInt8](repeating: 0, count: LogFormat.boxRange.count)
            let empty: [UInt8] = []
            try box.withMutableRawSpan { box throws(CryptographyError) in
                try unsafe cipher.seal(
                    plaintext.span.bytes, empty.span.bytes, nonce: nonce, authenticating: associated.span.bytes,
                    into: &box)
            }
            return (0..<8).map { UInt8(truncatingIfNeeded: index >> UInt64(8 * $0)) } + nonceBytes + box
        }
    }

    /// The entry in a slot; nil when it is not the one that was sealed for this place.
    borrowing func open(_ slot: RawSpan, at index: UInt64, vault: VaultID, chain: LogChain) -> LogEntry? {
        guard slot.byteCount == LogFormat.slotSize, slot.integer(at: 0, as: UInt64.self) == index,
            var cipher = try? cipher()
        else { return nil }
        let associated = LogFormat.associatedData(vault: vault, chain: chain, index: index)
        var plaintext = [UInt8](repeating: 0, count: LogFormat.plaintextSize)
        do throws(CryptographyError) {
            try plaintext.withMutableRawSpan { plaintext throws(CryptographyError) in
                try unsafe cipher.open(
                    slot.extracting(LogFormat.boxRange), nonce: slot.extracting(LogFormat.nonceRange),
                    authenticating: associated.span.bytes, into: &plaintext)
            }
        } catch { return nil }
        return try? LogEntry(parsing: plaintext)
    }
}
