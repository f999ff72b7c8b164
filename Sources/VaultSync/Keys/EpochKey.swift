internal import Cryptography
package import SecretMemory
package import SyncFormat
internal import VaultFormat

/// E(n): the random key of one roster, which its members have.
package struct EpochKey: ~Copyable, Sendable {
    package static let size = 32

    let bytes: SecretBytes

    /// - Throws: `format` unless there are 32 bytes.
    package init(_ bytes: consuming SecretBytes) throws(SyncError) {
        guard bytes.count == EpochKey.size else { throw .format(.wrongSize) }
        self.bytes = bytes
    }

    /// Draws a new one: for the first roster and after a removal.
    package static func generate() throws(SyncError) -> EpochKey {
        try EpochKey(crypto { () throws(CryptographyError) in try SecureRandom.secret(size) })
    }

    /// Lends the bytes, to be kept in the vault.
    package borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try bytes.withBytes(body)
    }

    /// A second, independent one.
    package borrowing func copy() throws(SyncError) -> EpochKey {
        try EpochKey(secretMemory { () throws(SecretMemoryError) in try bytes.copy() })
    }

    /// What a roster says of its key, so that no member can be given another one.
    borrowing func commitment(_ group: SyncGroupID) throws(SyncError) -> SecretBytes {
        try derive(group, "holdfast/1/sync-commit")
    }

    /// P: what the pieces of this epoch are named and sealed with.
    package borrowing func pieceKey(_ group: SyncGroupID) throws(SyncError) -> PieceKey {
        try PieceKey(derive(group, "holdfast/1/sync-pieces"))
    }

    private borrowing func derive(_ group: SyncGroupID, _ info: StaticString) throws(SyncError) -> SecretBytes {
        try crypto { () throws(CryptographyError) in
            try group.bytes.lend { salt throws(CryptographyError) in
                try HKDFSHA256.derive(bytes, salt: salt, info: info, count: EpochKey.size)
            }
        }
    }
}
