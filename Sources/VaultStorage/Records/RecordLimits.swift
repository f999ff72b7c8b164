internal import Cryptography
internal import VaultFormat

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
