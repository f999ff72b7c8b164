internal import CTSS2
internal import SecretMemory

extension TPMConnection {
    /// The storage key that everything of ours lies under: made again from the owner's seed when it is needed, so that
    /// nothing rests in the chip. Not subject to the chip's lockout, which other programs can cause.
    func primary() throws(KeyStoreError) -> TPMHandle { try primary(in: UInt32(ESYS_TR_RH_OWNER)) }

    /// A key of this start of the chip, to salt sessions with. It is there also where somebody has set an authorisation
    /// for the owner's hierarchy.
    func saltKey() throws(KeyStoreError) -> TPMHandle { try primary(in: UInt32(ESYS_TR_RH_NULL)) }

    private func primary(in hierarchy: ESYS_TR) throws(KeyStoreError) -> TPMHandle {
        let template = Structure<TPM2B_PUBLIC>()
        let area = unsafe template.pointer
        unsafe area.pointee.publicArea.type = UInt16(TPM2_ALG_ECC)
        unsafe area.pointee.publicArea.nameAlg = UInt16(TPM2_ALG_SHA256)
        unsafe area.pointee.publicArea.objectAttributes =
            UInt32(TPMA_OBJECT_FIXEDTPM) | UInt32(TPMA_OBJECT_FIXEDPARENT) | UInt32(TPMA_OBJECT_SENSITIVEDATAORIGIN)
            | UInt32(TPMA_OBJECT_USERWITHAUTH) | UInt32(TPMA_OBJECT_RESTRICTED) | UInt32(TPMA_OBJECT_DECRYPT)
            | UInt32(TPMA_OBJECT_NODA)
        unsafe area.pointee.publicArea.parameters.eccDetail.symmetric.algorithm = UInt16(TPM2_ALG_AES)
        unsafe area.pointee.publicArea.parameters.eccDetail.symmetric.keyBits.aes = 128
        unsafe area.pointee.publicArea.parameters.eccDetail.symmetric.mode.aes = UInt16(TPM2_ALG_CFB)
        unsafe area.pointee.publicArea.parameters.eccDetail.scheme.scheme = UInt16(TPM2_ALG_NULL)
        unsafe area.pointee.publicArea.parameters.eccDetail.curveID = UInt16(TPM2_ECC_NIST_P256)
        unsafe area.pointee.publicArea.parameters.eccDetail.kdf.scheme = UInt16(TPM2_ALG_NULL)
        let sensitive = Structure<TPM2B_SENSITIVE_CREATE>()
        let outside = Structure<TPM2B_DATA>()
        let registers = Structure<TPML_PCR_SELECTION>()
        var handle: ESYS_TR = 0
        do throws(TPMFailure) {
            try tpm("create primary key") {
                unsafe Esys_CreatePrimary(
                    context, hierarchy, UInt32(ESYS_TR_PASSWORD), TPMConnection.none, TPMConnection.none,
                    sensitive.pointer, template.pointer, outside.pointer, registers.pointer,
                    &handle, nil, nil, nil, nil)
            }
        } catch { throw error.error }
        return TPMHandle(handle, self)
    }

    /// An object as it leaves the chip: the private half is encrypted by its parent.
    struct Blob: Hashable {
        let privatePart: [UInt8]
        let publicPart: [UInt8]

        /// Whether it is a share as ``TPMConnection/seal(_:under:policy:session:)`` makes them. What its public half
        /// says is true of every object that a chip loads it as.
        func isSealed(under policy: TPMPolicyDigest) -> Bool {
            let area = Structure<TPM2B_PUBLIC>()
            var read = 0
            let code = unsafe Tss2_MU_TPM2B_PUBLIC_Unmarshal(publicPart, publicPart.count, &read, area.pointer)
            guard code == 0, read == publicPart.count else { return false }
            let expected = TPMConnection.sealedTemplate(UInt32(TPMA_OBJECT_ADMINWITHPOLICY))
            let (found, wanted) = unsafe (area.pointer.pointee.publicArea, expected.pointer.pointee.publicArea)
            let asked = unsafe area.pointer.member(\.publicArea.authPolicy).array
            return found.type == wanted.type && found.nameAlg == wanted.nameAlg
                && found.objectAttributes == wanted.objectAttributes && asked == policy.bytes
        }
    }

    /// Seals a share that only this policy gives out.
    func seal(
        _ share: borrowing SecretBytes, under parent: borrowing TPMHandle, policy: TPMPolicyDigest,
        session: borrowing TPMHandle
    ) throws -> Blob {
        // No USERWITHAUTH: only the policy unseals.
        let template = TPMConnection.sealedTemplate(UInt32(TPMA_OBJECT_ADMINWITHPOLICY))
        _ = unsafe template.pointer.member(\.publicArea.authPolicy).store(policy.bytes)
        var sensitive = try SecretStructure<TPM2B_SENSITIVE_CREATE>()
        unsafe sensitive.withPointer { pointer in
            let data = unsafe pointer.member(\.sensitive.data)
            _ = share.withBytes { unsafe data.store($0) }
        }
        return try create(sensitive: &sensitive, template, under: parent, session: session)
    }

    /// Seals a share that an authorisation of 256 bits gives out.
    func seal(
        _ share: borrowing SecretBytes, under parent: borrowing TPMHandle, authorisation: borrowing SecretBytes,
        session: borrowing TPMHandle
    ) throws -> Blob {
        let template = TPMConnection.sealedTemplate(UInt32(TPMA_OBJECT_USERWITHAUTH))
        var sensitive = try SecretStructure<TPM2B_SENSITIVE_CREATE>()
        unsafe sensitive.withPointer { pointer in
            let (auth, data) = unsafe (pointer.member(\.sensitive.userAuth), pointer.member(\.sensitive.data))
            _ = authorisation.withBytes { unsafe auth.store($0) }
            _ = share.withBytes { unsafe data.store($0) }
        }
        return try create(sensitive: &sensitive, template, under: parent, session: session)
    }

    /// An object that holds bytes. Outside the chip's lockout: other programs cause that.
    fileprivate static func sealedTemplate(_ more: UInt32) -> Structure<TPM2B_PUBLIC> {
        let template = Structure<TPM2B_PUBLIC>()
        unsafe template.pointer.pointee.publicArea.type = UInt16(TPM2_ALG_KEYEDHASH)
        unsafe template.pointer.pointee.publicArea.nameAlg = UInt16(TPM2_ALG_SHA256)
        unsafe template.pointer.pointee.publicArea.objectAttributes =
            UInt32(TPMA_OBJECT_FIXEDTPM) | UInt32(TPMA_OBJECT_FIXEDPARENT) | UInt32(TPMA_OBJECT_NODA) | more
        unsafe template.pointer.pointee.publicArea.parameters.keyedHashDetail.scheme.scheme = UInt16(TPM2_ALG_NULL)
        return template
    }

    func create(
        sensitive: inout SecretStructure<TPM2B_SENSITIVE_CREATE>, _ template: borrowing Structure<TPM2B_PUBLIC>,
        under parent: borrowing TPMHandle, session: borrowing TPMHandle
    ) throws -> Blob {
        let outside = Structure<TPM2B_DATA>()
        let registers = Structure<TPML_PCR_SELECTION>()
        var privatePart: UnsafeMutablePointer<TPM2B_PRIVATE>?
        var publicPart: UnsafeMutablePointer<TPM2B_PUBLIC>?
        let (parent, session) = (parent.number, session.number)
        let template = unsafe template.pointer
        try unsafe sensitive.withPointer { sensitive throws(TPMFailure) in
            try tpm("create object") {
                unsafe Esys_Create(
                    context, parent, session, TPMConnection.none, TPMConnection.none, sensitive, template,
                    outside.pointer, registers.pointer, &privatePart, &publicPart, nil, nil, nil)
            }
        }
        defer {
            unsafe Esys_Free(privatePart)
            unsafe Esys_Free(publicPart)
        }
        return unsafe Blob(
            privatePart: try marshal { unsafe Tss2_MU_TPM2B_PRIVATE_Marshal(privatePart, $0, $1, &$2) },
            publicPart: try marshal { unsafe Tss2_MU_TPM2B_PUBLIC_Marshal(publicPart, $0, $1, &$2) })
    }

    private func marshal(
        _ body: (UnsafeMutablePointer<UInt8>, Int, inout Int) -> TSS2_RC
    ) throws(TPMFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        var count = 0
        var code: TSS2_RC = 0
        unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            if let base = buffer.baseAddress { code = unsafe body(base, buffer.count, &count) }
        }
        guard code == 0 else { throw TPMFailure(code: code, operation: "write object") }
        return Array(bytes[..<count])
    }

    /// Loads an object again. What is sent is encrypted by its parent already, the parent has no authorisation to
    /// prove, and the stack compares the name that comes back with the public half: a session would protect nothing
    /// more.
    /// - Throws: ``KeyStoreError`` (`foreign` when another parent made it, `damaged`).
    func load(_ blob: Blob, under parent: borrowing TPMHandle) throws -> TPMHandle {
        let privatePart = Structure<TPM2B_PRIVATE>()
        let publicPart = Structure<TPM2B_PUBLIC>()
        var (first, second) = (0, 0)
        let codes = unsafe (
            Tss2_MU_TPM2B_PRIVATE_Unmarshal(blob.privatePart, blob.privatePart.count, &first, privatePart.pointer),
            Tss2_MU_TPM2B_PUBLIC_Unmarshal(blob.publicPart, blob.publicPart.count, &second, publicPart.pointer)
        )
        guard codes == (0, 0), first == blob.privatePart.count, second == blob.publicPart.count else {
            throw KeyStoreError(.damaged, "what is kept of a TPM object is not what was written")
        }
        var handle: ESYS_TR = 0
        let parent = parent.number
        do throws(TPMFailure) {
            try tpm("load object") {
                unsafe Esys_Load(
                    context, parent, UInt32(ESYS_TR_PASSWORD), TPMConnection.none, TPMConnection.none,
                    privatePart.pointer, publicPart.pointer, &handle)
            }
        } catch {
            guard error.meaning == CTSS2_INTEGRITY else { throw error }
            throw KeyStoreError(.foreign, "this was sealed by another TPM, or by this one before it was cleared")
        }
        return TPMHandle(handle, self)
    }

    /// Takes a sealed share out, through the session whose policy allows it.
    func unseal(_ object: borrowing TPMHandle, session: borrowing TPMHandle) throws -> SecretBytes {
        var data: UnsafeMutablePointer<TPM2B_SENSITIVE_DATA>?
        let (object, session) = (object.number, session.number)
        try tpm("unseal") {
            unsafe Esys_Unseal(context, object, session, TPMConnection.none, TPMConnection.none, &data)
        }
        guard let data = unsafe data else { throw KeyStoreError(.failure, "the TPM unsealed nothing") }
        defer {
            var memory = unsafe MutableRawSpan(
                _unsafeStart: UnsafeMutableRawPointer(data), byteCount: MemoryLayout<TPM2B_SENSITIVE_DATA>.size)
            memory.wipe()
            unsafe Esys_Free(data)
        }
        return try unsafe data.withBytes { try SecretBytes(copying: $0) }
    }
}
