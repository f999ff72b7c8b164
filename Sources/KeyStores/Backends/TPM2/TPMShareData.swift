internal import VaultFormat

/// What a slot keeps to find its share in the chip again: version, index number, name of the parent, digest of the
/// index's writing policy, the home that it was made for, and the sealed object; each text behind its 16-bit length,
/// little endian.
struct TPMShareData: Hashable {
    let handle: UInt32
    let parent: [UInt8]
    let writePolicy: [UInt8]
    /// ``HardwareOwner/home`` of the index's owner.
    let home: [UInt8]
    let blob: TPMConnection.Blob

    private static let version: UInt8 = 1

    init(handle: UInt32, parent: [UInt8], writePolicy: [UInt8], home: [UInt8], blob: TPMConnection.Blob) {
        self.handle = handle
        self.parent = parent
        self.writePolicy = writePolicy
        self.home = home
        self.blob = blob
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = [TPMShareData.version]
        for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(handle >> UInt32(shift) & 0xff)) }
        return bytes + CountedParts.encode([parent, writePolicy, home, blob.privatePart, blob.publicPart])
    }

    /// - Throws: ``KeyStoreError`` (`damaged`).
    init(parsing bytes: [UInt8]) throws(KeyStoreError) {
        guard bytes.count >= 5, bytes[0] == TPMShareData.version else { throw TPMShareData.altered }
        handle = bytes[1..<5].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        guard let parts = CountedParts.parse(bytes, from: 5, count: 5), parts[1].count == 32,
            parts[2].count == 32,
            PinIndex.range.contains(handle)
        else { throw TPMShareData.altered }
        parent = parts[0]
        writePolicy = parts[1]
        home = parts[2]
        blob = TPMConnection.Blob(privatePart: parts[3], publicPart: parts[4])
    }

    static let altered = KeyStoreError(.damaged, "what the slot keeps of its TPM object is not what was written")

    /// The policy of the index, if it is this owner's.
    func policy(of owner: HardwareOwner) -> TPMConnection.PinIndexPolicy {
        TPMConnection.PinIndexPolicy(write: TPMPolicyDigest(known: writePolicy), owner: owner)
    }

    /// Whether the parts belong to one share of this vault: the index counts attempts, cannot be written again and was
    /// made for this vault, and the sealed object demands exactly this index.
    /// - Parameters:
    ///   - name: The index's, as the slot has it.
    ///   - vault: The slot's.
    /// - Returns: The index's policy.
    /// - Throws: ``KeyStoreError`` (`damaged`).
    func check(_ name: [UInt8], of vault: VaultID) throws(KeyStoreError) -> TPMConnection.PinIndexPolicy {
        let policy = policy(of: HardwareOwner(vault: vault, home: home))
        var secret = TPMPolicyDigest()
        secret.secret(of: name)
        guard PinIndex.name(handle, policy: policy.any, isWritten: true) == name, blob.isSealed(under: secret) else {
            throw TPMShareData.altered
        }
        return policy
    }
}
