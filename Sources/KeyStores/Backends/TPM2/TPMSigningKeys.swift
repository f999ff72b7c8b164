internal import CTSS2
internal import Cryptography
package import SecretMemory
package import VaultFormat

/// P-256 keys in a TPM 2.0: made there, used there, never to be had outside. Nothing rests in the chip; each key is an
/// object encrypted under the chip's storage key, which is made again when it is needed.
package struct TPMSigningKeys: SigningKeyStore {
    package let assurance = Assurance.hardwareBound
    private let location: TPMLocation

    package init(at location: TPMLocation) { self.location = location }

    package func makeKey(authorisation: borrowing SecretBytes) throws(KeyStoreError) -> SigningKeyObject {
        try keyStoreErrors {
            let chip = try TPMConnection(location)
            let parent = try chip.primary()
            let session = try chip.session(.hmac, saltedTo: parent.number)
            let made = try chip.createSigningKey(authorisation: authorisation, under: parent, session: session)
            let data = TPMObjectData(parent: try chip.objectName(parent.number), blob: made.blob)
            return SigningKeyObject(publicKey: made.point, data: data.encoded)
        }
    }

    package func sign(
        _ message: RawSpan, with key: SigningKeyObject, authorisation: borrowing SecretBytes
    ) throws(KeyStoreError) -> [UInt8] {
        try keyStoreErrors {
            let data = try TPMObjectData(parsing: key.data)
            let digest = SHA256.hash(message).bytes
            let chip = try TPMConnection(location)
            let parent = try chip.primary()
            try data.check(chip, parent)
            let session = try chip.session(.hmac, saltedTo: parent.number)
            let loaded = try chip.load(data.blob, under: parent)
            try chip.setAuthorisation(loaded.number, authorisation)
            do {
                let signature = try chip.sign(digest, with: loaded, session: session)
                // The object names its public half itself: a swapped one must not sign in the name of another.
                let point = try unsafe P256PublicKey(compressed: key.publicKey.span.bytes)
                guard unsafe point.isValid(signature: signature.span.bytes, for: message) else {
                    throw KeyStoreError(.damaged, "this TPM key is not the one that its public key says")
                }
                return signature
            } catch let failure as TPMFailure where failure.isWrongAuthorisation {
                throw KeyStoreError(.wrongSecret, "the TPM key takes another authorisation")
            }
        }
    }

    package func delete(_ key: SigningKeyObject) throws(KeyStoreError) {
        _ = try TPMObjectData(parsing: key.data)  // the chip keeps nothing of it
    }
}

extension TPMConnection {
    /// Makes a key inside the chip.
    fileprivate func createSigningKey(
        authorisation: borrowing SecretBytes, under parent: borrowing TPMHandle, session: borrowing TPMHandle
    ) throws -> (point: [UInt8], blob: Blob) {
        let template = Structure<TPM2B_PUBLIC>()
        let area = unsafe template.pointer
        unsafe area.pointee.publicArea.type = UInt16(TPM2_ALG_ECC)
        unsafe area.pointee.publicArea.nameAlg = UInt16(TPM2_ALG_SHA256)
        // Outside the chip's lockout: 256 bits are not guessed, and other programs cause lockouts.
        unsafe area.pointee.publicArea.objectAttributes =
            UInt32(TPMA_OBJECT_FIXEDTPM) | UInt32(TPMA_OBJECT_FIXEDPARENT) | UInt32(TPMA_OBJECT_SENSITIVEDATAORIGIN)
            | UInt32(TPMA_OBJECT_USERWITHAUTH) | UInt32(TPMA_OBJECT_SIGN_ENCRYPT) | UInt32(TPMA_OBJECT_NODA)
        unsafe area.pointee.publicArea.parameters.eccDetail.symmetric.algorithm = UInt16(TPM2_ALG_NULL)
        unsafe area.pointee.publicArea.parameters.eccDetail.scheme.scheme = UInt16(TPM2_ALG_ECDSA)
        unsafe area.pointee.publicArea.parameters.eccDetail.scheme.details.ecdsa.hashAlg = UInt16(TPM2_ALG_SHA256)
        unsafe area.pointee.publicArea.parameters.eccDetail.curveID = UInt16(TPM2_ECC_NIST_P256)
        unsafe area.pointee.publicArea.parameters.eccDetail.kdf.scheme = UInt16(TPM2_ALG_NULL)
        var sensitive = try SecretStructure<TPM2B_SENSITIVE_CREATE>()
        unsafe sensitive.withPointer { pointer in
            let auth = unsafe pointer.member(\.sensitive.userAuth)
            _ = authorisation.withBytes { unsafe auth.store($0) }
        }
        let blob = try create(sensitive: &sensitive, template, under: parent, session: session)
        return (try TPMConnection.point(of: blob), blob)
    }

    /// The compressed point in the public half of an object.
    private static func point(of blob: Blob) throws -> [UInt8] {
        let area = Structure<TPM2B_PUBLIC>()
        var read = 0
        let code = unsafe Tss2_MU_TPM2B_PUBLIC_Unmarshal(blob.publicPart, blob.publicPart.count, &read, area.pointer)
        guard code == 0 else { throw TPMFailure(code: code, operation: "read public key") }
        let unique = unsafe area.pointer.member(\.publicArea.unique).alternative(TPMS_ECC_POINT.self)
        let (x, y) = unsafe (unique.member(\.x).array, unique.member(\.y).array)
        guard (1...32).contains(x.count), let last = y.last else {
            throw KeyStoreError(.failure, "the TPM gave no P-256 key")
        }
        return [2 | last & 1] + padded(x)
    }

    /// Numbers come without leading zeros.
    private static func padded(_ number: [UInt8]) -> [UInt8] {
        [UInt8](repeating: 0, count: max(0, 32 - number.count)) + number
    }

    fileprivate func sign(
        _ digest: [UInt8], with key: borrowing TPMHandle, session: borrowing TPMHandle
    ) throws -> [UInt8] {
        let input = Structure<TPM2B_DIGEST>()
        _ = unsafe input.pointer.store(digest)
        let scheme = Structure<TPMT_SIG_SCHEME>()
        unsafe scheme.pointer.pointee.scheme = UInt16(TPM2_ALG_NULL)
        let ticket = Structure<TPMT_TK_HASHCHECK>()
        unsafe ticket.pointer.pointee.tag = UInt16(TPM2_ST_HASHCHECK)
        unsafe ticket.pointer.pointee.hierarchy = UInt32(TPM2_RH_NULL)
        var signature: UnsafeMutablePointer<TPMT_SIGNATURE>?
        let (key, session) = (key.number, session.number)
        try tpm("sign") {
            unsafe Esys_Sign(
                context, key, session, TPMConnection.none, TPMConnection.none, input.pointer, scheme.pointer,
                ticket.pointer, &signature)
        }
        defer { unsafe Esys_Free(signature) }
        guard let signature = unsafe signature, unsafe signature.pointee.sigAlg == UInt16(TPM2_ALG_ECDSA) else {
            throw KeyStoreError(.failure, "the TPM gave no ECDSA signature")
        }
        let ecdsa = unsafe signature.member(\.signature).alternative(TPMS_SIGNATURE_ECDSA.self)
        let (r, s) = unsafe (ecdsa.member(\.signatureR).array, ecdsa.member(\.signatureS).array)
        guard (1...32).contains(r.count), (1...32).contains(s.count) else {
            throw KeyStoreError(.failure, "the TPM gave a signature of a wrong size")
        }
        return TPMConnection.padded(r) + TPMConnection.padded(s)
    }
}
