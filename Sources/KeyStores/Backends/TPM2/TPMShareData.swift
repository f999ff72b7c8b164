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
        let damaged = KeyStoreError(.damaged, "what the slot keeps of its TPM object is not what was written")
        guard bytes.count >= 5, bytes[0] == TPMShareData.version else { throw damaged }
        handle = bytes[1..<5].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        guard let parts = CountedParts.parse(bytes, from: 5, count: 4), parts[1].count == 32,
            PinIndex.range.contains(handle)
        else { throw damaged }
        parent = parts[0]
        writePolicy = parts[1]
        blob = TPMConnection.Blob(privatePart: parts[2], publicPart: parts[3])
    }
}
