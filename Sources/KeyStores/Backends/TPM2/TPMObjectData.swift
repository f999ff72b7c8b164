/// What is kept of an object that lies under our storage key: version, the key's name, and the object as it left the chip.
struct TPMObjectData: Hashable {
    let parent: [UInt8]
    let blob: TPMConnection.Blob

    private static let version: UInt8 = 1

    init(parent: [UInt8], blob: TPMConnection.Blob) {
        self.parent = parent
        self.blob = blob
    }

    var encoded: [UInt8] {
        [TPMObjectData.version] + CountedParts.encode([parent, blob.privatePart, blob.publicPart])
    }

    /// - Throws: ``KeyStoreError`` (`damaged`).
    init(parsing bytes: [UInt8]) throws(KeyStoreError) {
        guard bytes.first == TPMObjectData.version, let parts = CountedParts.parse(bytes, from: 1, count: 3) else {
            throw KeyStoreError(.damaged, "what is kept of a TPM object is not what was written")
        }
        parent = parts[0]
        blob = TPMConnection.Blob(privatePart: parts[1], publicPart: parts[2])
    }

    /// - Throws: ``KeyStoreError`` (`foreign`) where the chip has another storage key.
    func check(_ chip: TPMConnection, _ parent: borrowing TPMHandle) throws {
        guard try chip.objectName(parent.number) == self.parent else {
            throw KeyStoreError(.foreign, "this was made by another TPM, or by this one before it was cleared")
        }
    }
}
