internal import Cryptography
internal import SecretMemory
internal import VaultFormat

/// Seals and opens record values; keeps a cipher context per epoch and one locked buffer.
///
/// A value and not an object, so that one check of exclusive access covers a whole operation.
package struct RecordCipher: ~Copyable {
    /// A context in a class, so that a list of them can be kept.
    private final class Context {
        let epoch: UInt32
        var cipher: AES256GCM

        init(_ keys: EpochKeys) throws(VaultError) {
            epoch = keys.epoch
            cipher = try RecordCipher.context(keys)
        }
    }

    private let vault: VaultID
    /// Seals every record and opens nearly every one.
    private var newest: AES256GCM
    private let newestEpoch: UInt32
    /// Only while records move to new keys.
    private let older: [Context]
    /// Not secret; such memory is the cheapest to lend.
    private var associated: SecretBytes
    /// The epoch that `associated` names now; 0 at first.
    private var associatedEpoch: UInt32 = 0
    private(set) var scratch: SecretBytes
    /// Larger buffers are given back after use: locked memory is scarce.
    private static let keptScratch = 4096
    private static let largestPlaintext =
        RecordFields.size + RecordName.maximumCollectionSize + RecordName.maximumNameSize
        + max(RecordLabel.maximumSize, RecordLimits.sealedItemOverhead) + RecordLimits.largestInlineValue

    package init(_ keys: RecordKeys) throws(VaultError) {
        var older: [Context] = []
        for epoch in keys.epochs.dropFirst() { older.append(try Context(epoch)) }
        let newest = try RecordCipher.context(keys.current)
        let associated = try RecordCipher.buffer(SealedRecord.authenticatedSize)
        let scratch = try RecordCipher.buffer(RecordCipher.keptScratch)
        vault = keys.domain
        self.newest = newest
        newestEpoch = keys.current.epoch
        self.older = older
        self.associated = associated
        self.scratch = scratch
    }

    private static func context(_ keys: EpochKeys) throws(VaultError) -> AES256GCM {
        try crypto(AES256GCM(key: keys.records))
    }

    private static func buffer(_ size: Int) throws(VaultError) -> SecretBytes {
        try secretMemory(SecretBytes(zeroed: size))
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
    package mutating func open(_ value: RawSpan, lookupKey: RawSpan) throws(VaultError) -> Int {
        let epoch = try RecordCipher.epoch(of: value)
        guard epoch == newestEpoch || older.contains(where: { $0.epoch == epoch }) else { throw .keysChanged }
        let size = value.byteCount - SealedRecord.overhead
        // A size that no writer writes comes from a damaged page; it may reach beyond the map.
        guard size <= RecordCipher.largestPlaintext, lookupKey.byteCount == SealedRecord.lookupKeySize else {
            throw .damagedRecord
        }
        if size > scratch.count { scratch = try RecordCipher.buffer(size) }
        prepareAssociatedData(epoch, lookupKey)
        do throws(CryptographyError) {
            if epoch == newestEpoch {
                try RecordCipher.open(value, &newest, associated, into: &scratch)
            } else if let context = older.first(where: { $0.epoch == epoch }) {
                try RecordCipher.open(value, &context.cipher, associated, into: &scratch)
            }
        } catch .authenticationFailed {
            throw .damagedRecord
        } catch {
            throw VaultError(error)
        }
        return size
    }

    private static func open(
        _ value: RawSpan, _ cipher: inout AES256GCM, _ associated: borrowing SecretBytes,
        into scratch: inout SecretBytes
    ) throws(CryptographyError) {
        try scratch.withMutableBytes { scratch throws(CryptographyError) in
            try scratch.withPart(0..<value.byteCount - SealedRecord.overhead) { output throws(CryptographyError) in
                try associated.withBytes { associated throws(CryptographyError) in
                    try cipher.open(
                        value.extracting(SealedRecord.boxOffset..<value.byteCount),
                        nonce: value.extracting(SealedRecord.epochSize..<SealedRecord.boxOffset),
                        authenticating: associated, into: &output)
                }
            }
        }
    }

    /// Decrypts the root record's value, behind which its number stands in clear.
    package mutating func openRoot(_ value: RawSpan) throws(VaultError) -> Int {
        guard SealedRoot.isSize(value.byteCount) else { throw .damagedRecord }
        let zeros = Digest()
        return try zeros.withBytes { key throws(VaultError) in
            try open(value.extracting(0..<value.byteCount - SealedRoot.numberSize), lookupKey: key)
        }
    }

    /// Lends what ``open(_:lookupKey:)`` decrypted.
    @inline(__always)
    package func withPlaintext<R: ~Copyable, E: Error>(
        _ size: Int, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        try scratch.withBytes { bytes throws(E) in try body(bytes.extracting(0..<size)) }
    }

    /// Wipes the first `size` bytes of the buffer, or gives a large one back.
    package mutating func wipe(_ size: Int) {
        if scratch.count > RecordCipher.keptScratch,
            let small = try? SecretBytes(zeroed: RecordCipher.keptScratch)
        {
            scratch = small  // the old one is wiped as it goes
        } else {
            scratch.withMutableBytes { bytes in bytes.withPart(0..<size) { $0.wipe() } }
        }
    }

    /// Seals `front` and `content` as one plaintext for the newest epoch.
    mutating func seal(
        _ front: RawSpan, _ content: RawSpan, lookupKey: RawSpan, nonce: Nonce96, into value: inout MutableRawSpan
    ) throws(VaultError) {
        prepareAssociatedData(newestEpoch, lookupKey)
        value.store(newestEpoch, at: 0)
        nonce.withBytes { nonce in
            value.store(nonce.present(at: 0, as: UInt64.self), at: SealedRecord.epochSize)
            value.store(nonce.present(at: 8, as: UInt32.self), at: SealedRecord.epochSize + 8)
        }
        do throws(CryptographyError) {
            try value.withPart(SealedRecord.boxOffset..<value.byteCount) { box throws(CryptographyError) in
                try associated.withBytes { associated throws(CryptographyError) in
                    try newest.seal(front, content, nonce: nonce, authenticating: associated, into: &box)
                }
            }
        } catch {
            throw VaultError(error)
        }
    }

    private mutating func prepareAssociatedData(_ epoch: UInt32, _ lookupKey: RawSpan) {
        if epoch == associatedEpoch {
            return associated.withMutableBytes { SealedRecord.writeLookupKey(lookupKey, into: &$0) }
        }
        associatedEpoch = epoch
        associated.withMutableBytes { bytes in
            SealedRecord.writeAuthenticatedData(vault: vault, epoch: epoch, lookupKey: lookupKey, into: &bytes)
        }
    }
}

extension VaultError {
    package static let damagedRecord = VaultError.damaged("a record does not match its authentication tag")
}

/// Sizes of names, checked before anything is hashed or stored.
package enum RecordLimits {
    /// The largest value that lies in a record of its own.
    package static let largestInlineValue = 1 << 20
    /// The most that sealing to the inbox adds to a value: the key's epoch, a box, fields and names.
    static let sealedItemOverhead =
        4 + P256SealedBox.overhead + RecordFields.size + RecordName.maximumCollectionSize
        + RecordName.maximumNameSize

    package static func allow(collection: String, name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= RecordName.maximumNameSize
            && collection.utf8.count <= RecordName.maximumCollectionSize
    }
}

extension VaultError {
    package static let invalidName = VaultError(
        .invalidName,
        "a name has 1 to \(RecordName.maximumNameSize) bytes, a collection's name at most \(RecordName.maximumCollectionSize)"
    )
}

/// What a writer seals with. All of it in one value: a record is checked for exclusive access once, not at each step.
struct RecordSealer: ~Copyable {
    var cipher: RecordCipher
    private var nonces: NoncePool
    /// What stands before the content in a record's plaintext: fields and names.
    private var front: SecretBytes

    init(_ keys: RecordKeys) throws(VaultError) {
        let cipher = try RecordCipher(keys)
        let nonces = try crypto(NoncePool())
        let size =
            RecordFields.size + RecordName.maximumCollectionSize + RecordName.maximumNameSize + RecordLabel.maximumSize
        front = try secretMemory(SecretBytes(zeroed: size))
        self.cipher = cipher
        self.nonces = nonces
    }

    /// Seals the `frontSize` bytes that `writeFront` writes, and `content` behind them, under a nonce of their own.
    mutating func seal(
        _ frontSize: Int, _ content: RawSpan, lookupKey: RawSpan, into value: inout MutableRawSpan,
        _ writeFront: (inout MutableRawSpan) -> Void
    ) throws(VaultError) {
        let nonce = try crypto(nonces.next())
        front.withMutableBytes(writeFront)
        try front.withBytes { front throws(VaultError) in
            try cipher.seal(
                front.extracting(0..<frontSize), content, lookupKey: lookupKey, nonce: nonce, into: &value)
        }
    }
}
