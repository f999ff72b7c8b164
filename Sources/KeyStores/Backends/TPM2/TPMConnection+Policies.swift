internal import CTSS2
internal import Cryptography
internal import SecretMemory

extension TPMConnection {
    /// Loads the public half of a key that signs for a policy.
    func loadVerifier(_ key: P256PublicKey) throws -> TPMHandle {
        let point = key.uncompressed
        let area = Structure<TPM2B_PUBLIC>()
        unsafe area.pointer.pointee.publicArea.type = UInt16(TPM2_ALG_ECC)
        unsafe area.pointer.pointee.publicArea.nameAlg = UInt16(TPM2_ALG_SHA256)
        unsafe area.pointer.pointee.publicArea.objectAttributes =
            UInt32(TPMA_OBJECT_SIGN_ENCRYPT) | UInt32(TPMA_OBJECT_USERWITHAUTH)
        unsafe area.pointer.pointee.publicArea.parameters.eccDetail.symmetric.algorithm = UInt16(TPM2_ALG_NULL)
        unsafe area.pointer.pointee.publicArea.parameters.eccDetail.scheme.scheme = UInt16(TPM2_ALG_ECDSA)
        unsafe area.pointer.pointee.publicArea.parameters.eccDetail.scheme.details.ecdsa.hashAlg =
            UInt16(TPM2_ALG_SHA256)
        unsafe area.pointer.pointee.publicArea.parameters.eccDetail.curveID = UInt16(TPM2_ECC_NIST_P256)
        unsafe area.pointer.pointee.publicArea.parameters.eccDetail.kdf.scheme = UInt16(TPM2_ALG_NULL)
        let unique = unsafe area.pointer.member(\.publicArea.unique).alternative(TPMS_ECC_POINT.self)
        _ = unsafe unique.member(\.x).store(Array(point[1...32]))
        _ = unsafe unique.member(\.y).store(Array(point[33...64]))
        var handle: ESYS_TR = 0
        try tpm("load public key") {
            unsafe Esys_LoadExternal(
                context, TPMConnection.none, TPMConnection.none, TPMConnection.none, nil, area.pointer,
                UInt32(ESYS_TR_RH_NULL), &handle)
        }
        return TPMHandle(handle, self)
    }

    /// Shows the chip a signature over its own nonce, made now.
    func policySigned(
        _ session: borrowing TPMHandle, _ key: borrowing P256PrivateKey, _ loaded: borrowing TPMHandle
    ) throws {
        let nonce = try nonce(of: session)
        let expiration: [UInt8] = [0, 0, 0, 0]
        let message = nonce + expiration
        let signature = try unsafe key.sign(message.span.bytes)
        let chipNonce = Structure<TPM2B_NONCE>()
        _ = unsafe chipNonce.pointer.store(nonce)
        let empty = Structure<TPM2B_DIGEST>()
        let packed = Structure<TPMT_SIGNATURE>()
        unsafe packed.pointer.pointee.sigAlg = UInt16(TPM2_ALG_ECDSA)
        let ecdsa = unsafe packed.pointer.member(\.signature).alternative(TPMS_SIGNATURE_ECDSA.self)
        unsafe ecdsa.pointee.hash = UInt16(TPM2_ALG_SHA256)
        _ = unsafe ecdsa.member(\.signatureR).store(Array(signature[..<32]))
        _ = unsafe ecdsa.member(\.signatureS).store(Array(signature[32...]))
        let (session, loaded) = (session.number, loaded.number)
        try tpm("sign policy") {
            unsafe Esys_PolicySigned(
                context, loaded, session, TPMConnection.none, TPMConnection.none, TPMConnection.none,
                chipNonce.pointer, empty.pointer, empty.pointer, 0, packed.pointer, nil, nil)
        }
    }

    func policyCommand(_ session: borrowing TPMHandle, _ command: UInt32) throws(TPMFailure) {
        let session = session.number
        try tpm("restrict policy") {
            unsafe Esys_PolicyCommandCode(
                context, session, TPMConnection.none, TPMConnection.none, TPMConnection.none, command)
        }
    }

    func policyOr(_ session: borrowing TPMHandle, _ branches: [TPMPolicyDigest]) throws(TPMFailure) {
        let list = Structure<TPML_DIGEST>()
        unsafe list.pointer.pointee.count = UInt32(branches.count)
        let digests = unsafe list.pointer.member(\.digests).alternative(TPM2B_DIGEST.self)
        for (index, branch) in branches.enumerated() {
            _ = unsafe (digests + index).store(branch.bytes)
        }
        let session = session.number
        try tpm("choose policy") {
            unsafe Esys_PolicyOR(
                context, session, TPMConnection.none, TPMConnection.none, TPMConnection.none, list.pointer)
        }
    }

    /// Asks for the authorisation of an index in a policy: the moment at which the chip counts.
    func policySecret(
        _ policy: borrowing TPMHandle, _ object: ESYS_TR, authorisation: borrowing SecretBytes,
        session: borrowing TPMHandle
    ) throws {
        try setAuthorisation(object, authorisation)
        let empty = Structure<TPM2B_DIGEST>()
        let (policy, session) = (policy.number, session.number)
        try tpm("authorise") {
            unsafe Esys_PolicySecret(
                context, object, policy, session, TPMConnection.none, TPMConnection.none, empty.pointer,
                empty.pointer, empty.pointer, 0, nil, nil)
        }
    }

    func setAuthorisation(_ object: ESYS_TR, _ authorisation: borrowing SecretBytes) throws {
        var value = try SecretStructure<TPM2B_AUTH>()
        try unsafe value.withPointer { value throws(TPMFailure) in
            _ = authorisation.withBytes { unsafe value.store($0) }
            try tpm("set authorisation") { unsafe Esys_TR_SetAuth(context, object, value) }
        }
    }
}
