internal import CTSS2
internal import SecretMemory

/// An ordinary NV index of ours: what it holds is read and written with its authorisation. Its policy is one that no
/// session can come to; it shows whose the index is.
struct OrdinaryIndex {
    static let attributes: UInt32 =
        UInt32(TPMA_NV_AUTHREAD) | UInt32(TPMA_NV_AUTHWRITE) | UInt32(TPMA_NV_NO_DA)

    let policy: TPMPolicyDigest
    let size: UInt16

    /// The name of such an index, which stands for its public area.
    func name(_ handle: UInt32, isWritten: Bool) -> [UInt8] {
        PinIndex.name(
            handle,
            attributes: isWritten ? OrdinaryIndex.attributes | PinIndex.written : OrdinaryIndex.attributes,
            policy: policy.bytes, size: size)
    }
}

/// What lies under a number in the chip.
struct FoundIndex {
    let object: ESYS_TR
    let name: [UInt8]
}

extension TPMConnection {
    /// - Returns: Nil where nothing is defined under this number.
    func index(at handle: UInt32) throws(TPMFailure) -> FoundIndex? {
        var object: ESYS_TR = 0
        do throws(TPMFailure) {
            try tpm("find index") {
                unsafe Esys_TR_FromTPMPublic(
                    context, handle, TPMConnection.none, TPMConnection.none, TPMConnection.none, &object)
            }
        } catch {
            if error.isMissing { return nil }
            throw error
        }
        return FoundIndex(object: object, name: try objectName(object))
    }

    /// The policy in the public area of an index, whoever defined it.
    func policy(of index: FoundIndex) throws(TPMFailure) -> [UInt8] {
        var area: UnsafeMutablePointer<TPM2B_NV_PUBLIC>?
        try tpm("read public area") {
            unsafe Esys_NV_ReadPublic(
                context, index.object, TPMConnection.none, TPMConnection.none, TPMConnection.none, &area, nil)
        }
        defer { unsafe Esys_Free(area) }
        return unsafe area?.member(\.nvPublic.authPolicy).array ?? []
    }

    /// Defines an index, with the authorisation in the session's encrypted parameter.
    func define(
        _ index: OrdinaryIndex, at handle: UInt32, authorisation: borrowing SecretBytes, session: borrowing TPMHandle
    ) throws -> ESYS_TR {
        let area = Structure<TPM2B_NV_PUBLIC>()
        unsafe area.pointer.pointee.nvPublic.nvIndex = handle
        unsafe area.pointer.pointee.nvPublic.nameAlg = UInt16(TPM2_ALG_SHA256)
        unsafe area.pointer.pointee.nvPublic.attributes = OrdinaryIndex.attributes
        unsafe area.pointer.pointee.nvPublic.dataSize = index.size
        _ = unsafe area.pointer.member(\.nvPublic.authPolicy).store(index.policy.bytes)
        var value = try SecretStructure<TPM2B_AUTH>()
        let session = session.number
        var object: ESYS_TR = 0
        try unsafe value.withPointer { value throws(TPMFailure) in
            _ = authorisation.withBytes { unsafe value.store($0) }
            try tpm("define index") {
                unsafe Esys_NV_DefineSpace(
                    context, UInt32(ESYS_TR_RH_OWNER), session, TPMConnection.none, TPMConnection.none, value,
                    area.pointer, &object)
            }
        }
        return object
    }

    /// Writes all of an index, whose authorisation was set.
    func write(_ content: RawSpan, to object: ESYS_TR, session: borrowing TPMHandle) throws {
        var data = try SecretStructure<TPM2B_MAX_NV_BUFFER>()
        let session = session.number
        try unsafe data.withPointer { data throws(TPMFailure) in
            _ = unsafe data.store(content)
            try tpm("write index") {
                unsafe Esys_NV_Write(
                    context, object, object, session, TPMConnection.none, TPMConnection.none, data, 0)
            }
        }
    }

    /// Reads all of an index, whose authorisation was set, and lends it.
    func read<R: ~Copyable>(
        _ object: ESYS_TR, size: UInt16, session: borrowing TPMHandle, _ body: (RawSpan) throws -> R
    ) throws -> R {
        var data: UnsafeMutablePointer<TPM2B_MAX_NV_BUFFER>?
        let session = session.number
        try tpm("read index") {
            unsafe Esys_NV_Read(
                context, object, object, session, TPMConnection.none, TPMConnection.none, size, 0, &data)
        }
        guard let data = unsafe data else { throw KeyStoreError(.failure, "the TPM read nothing") }
        defer {
            var memory = unsafe MutableRawSpan(
                _unsafeStart: UnsafeMutableRawPointer(data), byteCount: MemoryLayout<TPM2B_MAX_NV_BUFFER>.size)
            memory.wipe()
            unsafe Esys_Free(data)
        }
        return try unsafe data.withBytes { try body($0) }
    }
}
