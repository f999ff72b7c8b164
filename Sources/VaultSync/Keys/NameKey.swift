internal import Cryptography
package import SecretMemory
package import SyncFormat
internal import VaultFormat

/// What gives plain values, which have no id, the same id on every device. Drawn with the group and in each welcome.
package struct NameKey: ~Copyable, Sendable {
    package static let size = 32

    let bytes: SecretBytes

    /// - Throws: `format` unless there are 32 bytes.
    package init(_ bytes: consuming SecretBytes) throws(SyncError) {
        guard bytes.count == NameKey.size else { throw .format(.wrongSize) }
        self.bytes = bytes
    }

    /// Draws a new one, with a group.
    package static func generate() throws(SyncError) -> NameKey {
        try NameKey(crypto { () throws(CryptographyError) in try SecureRandom.secret(size) })
    }

    /// Lends the bytes, to be kept in the vault.
    package borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try bytes.withBytes(body)
    }

    /// The id of a plain value.
    package borrowing func itemID(collection: String, name: String) throws(SyncError) -> SyncItemID {
        var writer = ByteWriter()
        writer.counted(Array(collection.utf8))
        writer.counted(Array(name.utf8))
        let input = writer.bytes
        return try crypto { () throws(CryptographyError) in
            try input.lend { input throws(CryptographyError) in
                try bytes.withBytes { key throws(CryptographyError) in
                    try BLAKE3.keyedHash(input, key: key).withBytes { SyncItemID(truncating: $0) }
                }
            }
        }
    }
}
