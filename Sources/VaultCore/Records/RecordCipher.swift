internal import Cryptography
internal import SecretMemory
internal import VaultFormat

/// Seals and opens record values; keeps a cipher context per epoch and one locked buffer. Used by one thread at a time.
final class RecordCipher {
    /// A context in a class, so that a list of them can be kept.
    private final class Context {
        let epoch: UInt32
        var cipher: AES256GCM

        init(_ keys: EpochKeys) throws(VaultError) {
            epoch = keys.epoch
            cipher = try crypto { () throws(CryptographyError) in try AES256GCM(key: keys.records) }
        }
    }

    private let contexts: [Context]
    private var associated = [UInt8](repeating: 0, count: SealedRecord.authenticatedSize)
    private let vault: VaultID
    private(set) var scratch: SecretBytes
    /// Larger buffers are given back after use: locked memory is scarce.
    private static let keptScratch = 4096
    private static let largestPlaintext =
        RecordFields.size + RecordName.maximumCollectionSize + RecordName.maximumNameSize + Vault.largestInlineValue

    init(_ keys: UnlockedKeys) throws(VaultError) {
        var contexts: [Context] = []
        for epoch in keys.epochs { contexts.append(try Context(epoch)) }
        self.contexts = contexts
        vault = keys.vault
        scratch = try secretMemory { () throws(SecretMemoryError) in
            try SecretBytes(zeroed: RecordCipher.keptScratch)
        }
    }

    /// The epoch that a stored value names.
    static func epoch(of value: RawSpan) throws(VaultError) -> UInt32 {
        // Zero is no epoch, but what a page reads that was cut off.
        guard value.byteCount >= SealedRecord.overhead, let epoch = value.integer(at: 0, as: UInt32.self), epoch > 0
        else { throw .damagedRecord }
        return epoch
    }

    /// Decrypts `value` into the locked buffer. Nothing is readable there unless the tag was right.
    /// - Returns: The size of the plaintext.
    /// - Throws: `damaged`; `keysChanged` for an epoch without a key.
    func open(_ value: RawSpan, lookupKey: RawSpan) throws(VaultError) -> Int {
        let epoch = try RecordCipher.epoch(of: value)
        guard let context = contexts.first(where: { $0.epoch == epoch }) else { throw .keysChanged }
        let size = value.byteCount - SealedRecord.overhead
        // A size that no writer writes comes from a damaged page; it may reach beyond the map.
        guard size <= RecordCipher.largestPlaintext else { throw .damagedRecord }
        if size > scratch.count {
            scratch = try secretMemory { () throws(SecretMemoryError) in try SecretBytes(zeroed: size) }
        }
        prepareAssociatedData(epoch, lookupKey)
        do throws(CryptographyError) {
            try scratch.withMutableBytes { scratch throws(CryptographyError) in
                try scratch.withPart(0..<size) { output throws(CryptographyError) in
                    try associated.withRawSpan { associated throws(CryptographyError) in
                        try context.cipher.open(
                            value.extracting(SealedRecord.boxOffset..<value.byteCount),
                            nonce: value.extracting(SealedRecord.epochSize..<SealedRecord.boxOffset),
                            authenticating: associated, into: &output)
                    }
                }
            }
        } catch .authenticationFailed {
            throw .damagedRecord
        } catch {
            throw VaultError(error)
        }
        return size
    }

    /// Decrypts the root record's value, behind which its number stands in clear.
    func openRoot(_ value: RawSpan) throws(VaultError) -> Int {
        guard value.byteCount == SealedRoot.size else { throw .damagedRecord }
        let zeros = Digest()
        return try zeros.withBytes { key throws(VaultError) in
            try open(value.extracting(0..<value.byteCount - SealedRoot.numberSize), lookupKey: key)
        }
    }

    /// Lends what ``open(_:lookupKey:)`` decrypted.
    func withPlaintext<R: ~Copyable, E: Error>(
        _ size: Int, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        try scratch.withBytes { bytes throws(E) in try body(bytes.extracting(0..<size)) }
    }

    /// Wipes the first `size` bytes of the buffer, or gives a large one back.
    func wipe(_ size: Int) {
        if scratch.count > RecordCipher.keptScratch,
            let small = try? SecretBytes(zeroed: RecordCipher.keptScratch)
        {
            scratch = small  // the old one is wiped as it goes
        } else {
            scratch.withMutableBytes { bytes in bytes.withPart(0..<size) { $0.wipe() } }
        }
    }

    /// Seals `front` and `content` as one plaintext for the newest epoch.
    func seal(
        _ front: RawSpan, _ content: RawSpan, lookupKey: RawSpan, nonce: Nonce96, into value: inout MutableRawSpan
    ) throws(VaultError) {
        let context = contexts[0]
        prepareAssociatedData(context.epoch, lookupKey)
        value.store(context.epoch, at: 0)
        nonce.withBytes { nonce in
            for index in 0..<SealedRecord.nonceSize {
                value.store(nonce.integer(at: index, as: UInt8.self) ?? 0, at: SealedRecord.epochSize + index)
            }
        }
        do throws(CryptographyError) {
            try value.withPart(SealedRecord.boxOffset..<value.byteCount) { box throws(CryptographyError) in
                try associated.withRawSpan { associated throws(CryptographyError) in
                    try context.cipher.seal(front, content, nonce: nonce, authenticating: associated, into: &box)
                }
            }
        } catch {
            throw VaultError(error)
        }
    }

    private func prepareAssociatedData(_ epoch: UInt32, _ lookupKey: RawSpan) {
        associated.withMutableRawSpan { bytes in
            SealedRecord.writeAuthenticatedData(vault: vault, epoch: epoch, lookupKey: lookupKey, into: &bytes)
        }
    }
}

extension VaultError {
    static let damagedRecord = VaultError.damaged("a record does not match its authentication tag")
}
