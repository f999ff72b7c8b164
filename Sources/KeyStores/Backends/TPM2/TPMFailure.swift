internal import CTSS2
internal import VaultFormat

/// A response code of the chip or of the software in front of it (TPM 2.0 Library, part 2, section 6.6).
struct TPMFailure: KeyStoreErrorSource {
    let code: TSS2_RC
    /// The command, for the reason.
    let operation: String

    /// Whether the chip said so: else it is of the software in front of it, and what the chip has done is not known.
    var isFromChip: Bool { code & 0xff_0000 == 0 || TPMFailure.resourceManagers.contains(code & 0xff_0000) }

    /// What the code is about, whichever parameter, handle or session it blames.
    var meaning: TSS2_RC {
        guard isFromChip else { return code }
        let code = code & 0xffff
        return code & 0x80 != 0 ? code & 0xbf : code
    }

    /// Resource managers pass the chip's own codes on under their layer's number.
    private static let resourceManagers: [TSS2_RC] = [0xb_0000, 0xc_0000]
    private static let transportLayer: TSS2_RC = 0xa_0000

    /// What reading an index says that is not ours: not written yet, of another size, with other rules.
    var isAnothersIndex: Bool {
        isWrongAuthorisation || isLimitReached || [0x146, 0x148, 0x149, 0x14a].contains(meaning)
    }

    var isWrongAuthorisation: Bool { meaning == CTSS2_AUTH_FAIL || meaning == CTSS2_BAD_AUTH }

    /// The count of a PIN_FAIL index has reached its limit: TPM_RC_AUTH_UNAVAILABLE.
    var isLimitReached: Bool { meaning == 0x12f }

    /// No object or index has this handle: TPM_RC_HANDLE, or the same of an NV index that is not defined.
    var isMissing: Bool { meaning == CTSS2_HANDLE || meaning == 0x14a }

    /// The chip has no room for another index: TPM_RC_NV_SPACE.
    var isFull: Bool { meaning == 0x14b }

    /// The chip cannot write now, and says so: TPM_RC_NV_RATE, TPM_RC_NV_UNAVAILABLE.
    private var isResting: Bool { meaning == 0x920 || meaning == 0x923 }

    /// As users read it.
    var error: KeyStoreError {
        switch meaning {
        case CTSS2_LOCKOUT:
            KeyStoreError(
                .lockedOut, "the TPM is in lockout after failed authorisations of any program")
        case CTSS2_RETRY, CTSS2_TESTING, CTSS2_YIELDED: KeyStoreError(.busy, "the TPM is busy")
        case CTSS2_OBJECT_MEMORY, CTSS2_SESSION_MEMORY:
            KeyStoreError(.busy, "the TPM has no room left; another program holds it")
        case CTSS2_AUTH_FAIL, CTSS2_BAD_AUTH:
            KeyStoreError(.ownedByAnother, "the TPM refused an authorisation (\(operation)): its owner has set one")
        case let code where code & 0xff_0000 == TPMFailure.transportLayer:
            KeyStoreError(.unavailable, "the TPM does not answer (\(operation): \(words))")
        case _ where isResting: KeyStoreError(.busy, "the TPM does not write now")
        default: KeyStoreError(.failure, "the TPM failed (\(operation): \(words))")
        }
    }

    private var words: String {
        guard let text = unsafe Tss2_RC_Decode(code) else { return String(code, radix: 16) }
        return unsafe String(cString: text)
    }
}

extension TPMFailure: ShareFailureSource {
    var shareFailure: ShareFailure {
        if isFull { return .unavailable(.full) }
        // The chip-wide protection against guessing is in force: nothing of ours is under it, but sessions may wait.
        if meaning == CTSS2_LOCKOUT { return .unavailable(.busy(error.reason)) }
        return ShareFailure(error, in: .tpm)
    }
}

/// Runs a call of the stack and throws its code.
func tpm(_ operation: String, _ call: () -> TSS2_RC) throws(TPMFailure) {
    let code = call()
    guard code == 0 else { throw TPMFailure(code: code, operation: operation) }
}
