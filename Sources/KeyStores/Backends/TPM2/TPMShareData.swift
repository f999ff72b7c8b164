/// What a slot keeps to find its share in the chip again: version, index number, name of the parent, digest of the
/// index's writing policy, and the sealed object; each text behind its 16-bit length, little endian.
struct TPMShareData: Hashable {
    let handle: UInt32
    let parent: [UInt8]
    let writePolicy: [UInt8]
    let blob: TPMConnection.Blob

    private static let version: UInt8 = 1

    init(handle: UInt32, parent: [UInt8], writePolicy: [UInt8], blob: TPMConnection.Blob) {
        self.handle = handle
        self.parent = parent
        self.writePolicy = writePolicy
        self.blob = blob
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = [TPMShareData.version]
        for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(handle >> UInt32(shift) & 0xff)) }
        return bytes + CountedParts.encode([parent, writePolicy, blob.privatePart, blob.publicPart])
    }

    /// - Throws: ``KeyStoreError`` (`damaged`).
    init(parsing bytes: [UInt8]) throws(KeyStoreError) {
        guard bytes.count >= 5, bytes[0] == TPMShareData.version else { throw TPMShareData.altered }
        handle = bytes[1..<5].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        guard let parts = CountedParts.parse(bytes, from: 5, count: 4), parts[1].count == 32,
            PinIndex.range.contains(handle)
        else { throw TPMShareData.altered }
        parent = parts[0]
        writePolicy = parts[1]
        blob = TPMConnection.Blob(privatePart: parts[2], publicPart: parts[3])
    }

    static let altered = KeyStoreError(.damaged, "what the slot keeps of its TPM object is not what was written")

    /// Whether the parts belong to one share: the index is one that counts, that nobody can write to again, and the sealed
    /// object asks for this very index and nothing else.
    /// - Parameter name: The index's, as the slot has it.
    /// - Throws: ``KeyStoreError`` (`damaged`).
    func check(_ name: [UInt8]) throws(KeyStoreError) {
        let index = TPMConnection.PinIndexPolicy(write: TPMPolicyDigest(known: writePolicy)).either
        var secret = TPMPolicyDigest()
        secret.secret(of: name)
        guard PinIndex.name(handle, policy: index, isWritten: true) == name, blob.isSealed(under: secret) else {
            throw TPMShareData.altered
        }
    }
}
