internal import CTSS2
internal import Cryptography
internal import SecretMemory

/// An NV index of type PIN_FAIL: eight bytes, count and limit. A wrong authorisation counts up inside the chip, a right
/// one sets the count to zero, and at the limit the authorisation is not looked at any more.
struct PinIndex {
    /// Its number in the chip.
    let handle: UInt32
    /// Its name, which stands for its public area: a redefined index has another.
    let name: [UInt8]

    static let attributes: UInt32 =
        UInt32(TPM2_NT_PIN_FAIL) << 4 | UInt32(TPMA_NV_POLICYWRITE) | UInt32(TPMA_NV_POLICYREAD) | UInt32(TPMA_NV_NO_DA)
    static let written = UInt32(TPMA_NV_WRITTEN)

    /// The name of an index that is defined as ours are.
    static func name(_ handle: UInt32, policy: TPMPolicyDigest, isWritten: Bool) -> [UInt8] {
        let attributes = isWritten ? PinIndex.attributes | PinIndex.written : PinIndex.attributes
        return name(handle, attributes: attributes, policy: policy.bytes, size: 8)
    }

    /// The name of an index: the digest of its public area (TPM 2.0 Library, part 1, section 16).
    static func name(_ handle: UInt32, attributes: UInt32, policy: [UInt8], size: UInt16) -> [UInt8] {
        let sha256: [UInt8] = [0, 0x0b]
        return sha256
            + TPMPolicyDigest.hash([
                TPMPolicyDigest.bigEndian(handle), sha256, TPMPolicyDigest.bigEndian(attributes), [0, 32], policy,
                [UInt8(size >> 8), UInt8(size & 0xff)],
            ])
    }

    /// Indices that programs of the owner choose freely.
    static let range: ClosedRange<UInt32> = 0x0180_0000...0x01bf_ffff
}

extension TPMConnection {
    /// The policies for writing and reading a PIN_FAIL index: a key that exists for one write, and anyone. A third
    /// branch, which no session can come to, makes the owner a part of the index's name.
    struct PinIndexPolicy {
        let write: TPMPolicyDigest
        let read: TPMPolicyDigest
        let owner: TPMPolicyDigest
        let any: TPMPolicyDigest

        /// The branches in the order in which the chip is told them.
        var branches: [TPMPolicyDigest] { [write, read, owner] }

        init(writer name: [UInt8], owner: HardwareOwner) {
            var write = TPMPolicyDigest()
            write.signed(by: name)
            write.command(TPMPolicyDigest.nvWrite)
            self.init(write: write, owner: owner)
        }

        /// - Parameter write: The digest of the branch that writes.
        init(write: TPMPolicyDigest, owner: HardwareOwner) {
            var read = TPMPolicyDigest()
            read.command(TPMPolicyDigest.nvRead)
            self.write = write
            self.read = read
            self.owner = TPMPolicyDigest(nobodys: "holdfast/1/pin-of", owner)
            var any = TPMPolicyDigest()
            any.any(of: [write, read, self.owner])
            self.any = any
        }
    }

    /// Defines an index under a free number, with the authorisation whose failures it will count.
    /// - Parameter note: Told of the number before it is used.
    func definePinIndex(
        authorisation: borrowing SecretBytes, policy: TPMPolicyDigest, session: borrowing TPMHandle,
        note: (UInt32) throws(KeyStoreError) -> Void
    ) throws -> (object: ESYS_TR, handle: UInt32) {
        let area = Structure<TPM2B_NV_PUBLIC>()
        unsafe area.pointer.pointee.nvPublic.nameAlg = UInt16(TPM2_ALG_SHA256)
        unsafe area.pointer.pointee.nvPublic.attributes = PinIndex.attributes
        unsafe area.pointer.pointee.nvPublic.dataSize = 8
        _ = unsafe area.pointer.member(\.nvPublic.authPolicy).store(policy.bytes)
        var auth = try SecretStructure<TPM2B_AUTH>()
        unsafe auth.withPointer { auth in _ = authorisation.withBytes { unsafe auth.store($0) } }
        let session = session.number
        for _ in 0..<64 {
            let random = try SecureRandom.bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            let handle = PinIndex.range.lowerBound + random % UInt32(PinIndex.range.count)
            unsafe area.pointer.pointee.nvPublic.nvIndex = handle
            try note(handle)
            var object: ESYS_TR = 0
            do throws(TPMFailure) {
                try unsafe auth.withPointer { auth throws(TPMFailure) in
                    try tpm("define index") {
                        unsafe Esys_NV_DefineSpace(
                            context, UInt32(ESYS_TR_RH_OWNER), session, TPMConnection.none, TPMConnection.none, auth,
                            area.pointer, &object)
                    }
                }
                return (object, handle)
            } catch {
                if error.meaning == 0x2c3 || error.meaning == 0x84 || error.meaning == 0x82 {
                    throw KeyStoreError(.unsupported, "this TPM has no indices that count failures (PIN_FAIL)")
                }
                guard error.meaning == CTSS2_NV_DEFINED else { throw error }  // taken: another number
            }
        }
        throw KeyStoreError(.busy, "the TPM has no free index")
    }

    /// Writes count 0 and the limit, once, with the key that the policy names.
    func writePinIndex(
        _ object: ESYS_TR, limit: UInt32, writer: borrowing P256PrivateKey, loaded: borrowing TPMHandle,
        policy: PinIndexPolicy, parent: borrowing TPMHandle
    ) throws {
        let session = try session(.policy, saltedTo: parent.number)
        try policySigned(session, writer, loaded)
        try policyCommand(session, TPMPolicyDigest.nvWrite)
        try policyOr(session, policy.branches)
        let data = Structure<TPM2B_MAX_NV_BUFFER>()
        _ = unsafe data.pointer.store([0, 0, 0, 0] + TPMPolicyDigest.bigEndian(limit))
        let number = session.number
        try tpm("write index") {
            unsafe Esys_NV_Write(
                context, object, object, number, TPMConnection.none, TPMConnection.none, data.pointer, 0)
        }
    }

    /// Count and limit, which everybody may read.
    func readPinIndex(
        _ object: ESYS_TR, policy: PinIndexPolicy, parent: borrowing TPMHandle
    ) throws -> (count: UInt32, limit: UInt32) {
        // In the clear: encryption would mix the index's authorisation in, which is not known here or wrong.
        let session = try session(.policy, saltedTo: parent.number, isEncrypted: false)
        try policyCommand(session, TPMPolicyDigest.nvRead)
        try policyOr(session, policy.branches)
        var data: UnsafeMutablePointer<TPM2B_MAX_NV_BUFFER>?
        let number = session.number
        try tpm("read index") {
            unsafe Esys_NV_Read(
                context, object, object, number, TPMConnection.none, TPMConnection.none, 8, 0, &data)
        }
        defer { unsafe Esys_Free(data) }
        let bytes = unsafe data?.array ?? []
        guard bytes.count == 8 else { throw KeyStoreError(.failure, "the TPM's index has a wrong size") }
        func value(_ part: ArraySlice<UInt8>) -> UInt32 { part.reduce(0) { $0 << 8 | UInt32($1) } }
        return (value(bytes[0..<4]), value(bytes[4..<8]))
    }

    /// Finds an index again; nil when it is gone or another lies under its number.
    func find(_ index: PinIndex) throws -> ESYS_TR? {
        var object: ESYS_TR = 0
        do throws(TPMFailure) {
            try tpm("find index") {
                unsafe Esys_TR_FromTPMPublic(
                    context, index.handle, TPMConnection.none, TPMConnection.none, TPMConnection.none, &object)
            }
        } catch {
            if error.isMissing { return nil }
            throw error
        }
        return try objectName(object) == index.name ? object : nil
    }

    func undefine(_ object: ESYS_TR, session: borrowing TPMHandle) throws(TPMFailure) {
        let session = session.number
        try tpm("undefine index") {
            unsafe Esys_NV_UndefineSpace(
                context, UInt32(ESYS_TR_RH_OWNER), object, session, TPMConnection.none, TPMConnection.none)
        }
    }
}
