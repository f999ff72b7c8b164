internal import CTSS2

extension TPMConnection {
    /// What a session is for.
    enum SessionKind {
        /// Proves authorisation values without sending them.
        case hmac
        /// Gathers what a policy asks for.
        case policy

        fileprivate var type: UInt8 { self == .hmac ? UInt8(TPM2_SE_HMAC) : UInt8(TPM2_SE_POLICY) }
    }

    /// A session salted to a key that only this chip has, with its parameters encrypted both ways: an eavesdropper or
    /// interposer between program and chip learns neither share nor authorisation.
    /// - Parameters:
    ///   - key: ``none`` only where no secret is proved and none is sent.
    ///   - isEncrypted: False only where the commands have no secret among their parameters and answers.
    func session(
        _ kind: SessionKind, saltedTo key: ESYS_TR, isEncrypted: Bool = true
    ) throws(TPMFailure) -> TPMHandle {
        let symmetric = Structure<TPMT_SYM_DEF>()
        unsafe symmetric.pointer.pointee.algorithm = UInt16(TPM2_ALG_AES)
        unsafe symmetric.pointer.pointee.keyBits.aes = 128
        unsafe symmetric.pointer.pointee.mode.aes = UInt16(TPM2_ALG_CFB)
        var session: ESYS_TR = 0
        try tpm("start session") {
            unsafe Esys_StartAuthSession(
                context, key, TPMConnection.none, TPMConnection.none, TPMConnection.none, TPMConnection.none, nil,
                kind.type, symmetric.pointer, UInt16(TPM2_ALG_SHA256), &session)
        }
        let handle = TPMHandle(session, self)
        let encryption = isEncrypted ? UInt8(TPMA_SESSION_DECRYPT) | UInt8(TPMA_SESSION_ENCRYPT) : 0
        let attributes = UInt8(TPMA_SESSION_CONTINUESESSION) | encryption
        try tpm("set up session") { unsafe Esys_TRSess_SetAttributes(context, session, attributes, 0xff) }
        return handle
    }

    /// The chip's nonce of a session.
    func nonce(of session: borrowing TPMHandle) throws(TPMFailure) -> [UInt8] {
        var nonce: UnsafeMutablePointer<TPM2B_NONCE>?
        let number = session.number
        try tpm("get nonce") { unsafe Esys_TRSess_GetNonceTPM(context, number, &nonce) }
        defer { unsafe Esys_Free(nonce) }
        return unsafe nonce?.array ?? []
    }
}
