internal import Cryptography
package import SecretMemory
package import VaultFormat
internal import VaultHeader
package import VaultStorage

/// The content of a record that the locked app can write and not read: the inbox key's epoch (32 bit), then a box
/// sealed to the public key, in which collection, name and content lie as in any record.
package enum SealedItem {
    private static let epochSize = 4

    package static func seal(
        _ content: RawSpan, as record: RecordName, to key: OpenPublicKeyFile, now: Int64
    ) throws(VaultError) -> [UInt8] {
        var front = try secretMemory(SecretBytes(zeroed: frontSize(record)))
        front.withMutableBytes { front in
            RecordFields(
                kind: .inline, origin: .open, sequence: 0, created: now, modified: now,
                collectionSize: record.collection.utf8.count, nameSize: record.name.utf8.count
            ).write(into: &front)
            var position = RecordFields.size
            for text in [record.collection, record.name] {
                for byte in text.utf8 {
                    front.store(byte, at: position)
                    position += 1
                }
            }
        }
        let associated = associatedData(vault: key.vault, epoch: key.epoch)
        let box = try crypto { () throws(CryptographyError) in
            let recipient = try key.point.withRawSpan { point throws(CryptographyError) in
                try P256PublicKey(compressed: point)
            }
            return try front.withBytes { front throws(CryptographyError) in
                try unsafe P256SealedBox.seal(
                    front, content, to: recipient, context: key.vault.bytes.span.bytes,
                    authenticating: associated.span.bytes)
            }
        }
        return (0..<epochSize).map { UInt8(truncatingIfNeeded: key.epoch >> UInt32(8 * $0)) } + box
    }

    private static func frontSize(_ record: RecordName) -> Int {
        RecordFields.size + record.collection.utf8.count + record.name.utf8.count
    }

    /// Which of the vault's inbox keys opens an item; nil for what is none.
    package static func epoch(of item: RawSpan) -> UInt32? { item.integer(at: 0, as: UInt32.self) }

    /// Opens an item into a plaintext that is laid out as a record's.
    /// - Throws: `damaged` for what was changed, or sealed to another key.
    package static func open(_ item: RawSpan, with key: borrowing InboxKey, vault: VaultID) throws(VaultError)
        -> SecretBytes
    {
        guard let epoch = epoch(of: item) else { throw .damagedRecord }
        let associated = associatedData(vault: vault, epoch: epoch)
        do throws(CryptographyError) {
            return try unsafe P256SealedBox.open(
                item.extracting(epochSize..<item.byteCount), with: key.privateKey, context: vault.bytes.span.bytes,
                authenticating: associated.span.bytes)
        } catch {
            switch error {
            case .memory, .library: throw VaultError(error)
            default: throw .damagedRecord
            }
        }
    }

    /// Vault id, "inbox", format version, epoch.
    private static func associatedData(vault: VaultID, epoch: UInt32) -> [UInt8] {
        let numbers = [Header.formatVersion, epoch].flatMap { value in
            (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
        }
        return vault.bytes + Array("inbox".utf8) + numbers
    }
}
