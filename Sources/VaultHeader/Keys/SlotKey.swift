package import Cryptography
package import SecretMemory
package import VaultFormat
package import VaultStorage

/// What a factor yields for one slot: the wrapping key W, and the commitment C that tells a wrong secret from a damaged
/// slot before anything is unwrapped (AES-GCM alone does not commit to its key).
package struct SlotKey: ~Copyable {
    private let wrappingKey: SecretBytes
    private let commitment: SecretBytes

    /// Wipes what was typed, and everything derived from it, from this thread's stack and registers.
    deinit { WorkingMemory.wipeAll() }

    /// Stretches a passcode in its composed form (``ComposedForm``) with the slot's costs. Takes about as long as the
    /// vault was calibrated to.
    package static func stretch(_ passcode: borrowing SecretBytes, for slot: Slot) throws(VaultError) -> SecretBytes {
        try ComposedForm.with(passcode) { passcode throws(VaultError) in try derive(passcode, slot) }
    }

    /// The same with the bytes as they were typed, as slots made before the composed form are made of.
    /// - Returns: Nil where that is the composed form.
    package static func stretch(asTyped passcode: borrowing SecretBytes, for slot: Slot) throws(VaultError)
        -> SecretBytes?
    {
        switch try ComposedForm.of(passcode) {
        case .some: try derive(passcode, slot)
        case .none: nil
        }
    }

    private static func derive(_ passcode: borrowing SecretBytes, _ slot: Slot) throws(VaultError) -> SecretBytes {
        guard let costs = slot.derivation else { throw .damaged("the passcode slot has no Argon2id costs") }
        return try crypto(
            unsafe Argon2id.derive(
                passcode, salt: slot.salt.span.bytes, passes: Int(costs.passes), memoryKiB: Int(costs.memoryKiB)))
    }

    /// The recovery phrase needs no stretching: it has 256 bits.
    package static func expand(_ phrase: borrowing RecoveryPhrase, vault: VaultID) throws(VaultError) -> SecretBytes {
        let entropy = try secretMemory(
            phrase.withEntropy { entropy throws(SecretMemoryError) in try SecretBytes(copying: entropy) })
        return try crypto(
            unsafe HKDFSHA256.derive(
                entropy, salt: vault.bytes.span.bytes, info: "holdfast/1/recovery", count: 32))
    }

    /// W || C = HKDF-SHA256(salt: slot salt, ikm: hardware share || A, info: "holdfast/1/slot/" || kind), for a slot
    /// without a hardware share: it is 32 zero bytes.
    /// - Parameters:
    ///   - factor: A, 32 bytes.
    ///   - slot: Must not say that there is a share.
    package init(factor: borrowing SecretBytes, slot: Slot) throws(VaultError) {
        guard !slot.flags.contains(.hardwareShare) else { throw .noTier(slot.kind) }
        try self.init(input: SlotKey.input(factor), slot)
    }

    /// The same with what the hardware gave, 32 bytes.
    package init(factor: borrowing SecretBytes, slot: Slot, share: borrowing SecretBytes) throws(VaultError) {
        guard slot.flags.contains(.hardwareShare) else { throw .damaged("this slot has no hardware share") }
        guard share.count == SlotKey.shareSize else {
            throw .damaged("a hardware share has \(share.count) bytes in place of \(SlotKey.shareSize)")
        }
        var input = try SlotKey.input(factor)
        input.withMutableBytes { input in share.withBytes { input.store(copying: $0, at: 0) } }
        try self.init(input: input, slot)
    }

    private static func input(_ factor: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
        guard factor.count == 32 else { throw .damaged("what opens a slot has \(factor.count) bytes in place of 32") }
        var input = try secretMemory(SecretBytes(zeroed: 64))
        input.withMutableBytes { input in factor.withBytes { input.store(copying: $0, at: 32) } }
        return input
    }

    private static let shareSize = 32

    private init(input: borrowing SecretBytes, _ slot: Slot) throws(VaultError) {
        let info = Array("holdfast/1/slot/\(slot.kind.name)".utf8)
        let both = try crypto(
            unsafe HKDFSHA256.derive(input, salt: slot.salt.span.bytes, info: info.span.bytes, count: 64))
        let first = try secretMemory(both.copy(0..<32))
        let second = try secretMemory(both.copy(32..<64))
        wrappingKey = first
        commitment = second
    }

    /// Of a slot whose wrapping key was kept.
    /// - Parameter kept: As ``opened(_:by:for:of:)`` gives it.
    package init(kept: borrowing SecretBytes, of slot: Slot) throws(VaultError) {
        let key = try secretMemory(kept.copy(0..<32))
        let commitment = try secretMemory(unsafe SecretBytes(copying: slot.commitment.span.bytes))
        wrappingKey = key
        self.commitment = commitment
    }

    /// What ``kept(by:with:for:of:)`` sealed: the wrapping key, 32 bytes, and the tag.
    /// - Throws: `damaged`.
    package static func opened(
        _ sealed: [UInt8], by key: borrowing SecretBytes, for slot: Slot, of vault: VaultID
    ) throws(VaultError) -> SecretBytes {
        var opened = try secretMemory(SecretBytes(zeroed: 64))
        let associated = SlotKey.keptAssociatedData(slot, vault)
        let nonceSize = AES256GCM.nonceSize
        try crypto { () throws(CryptographyError) in
            var cipher = try AES256GCM(key: key)
            try opened.withMutableBytes { opened throws(CryptographyError) in
                let bytes = unsafe sealed.span.bytes
                try unsafe cipher.open(
                    bytes.extracting(nonceSize..<bytes.byteCount), nonce: bytes.extracting(0..<nonceSize),
                    authenticating: associated.span.bytes, into: &opened)
            }
        }
        return opened
    }

    /// The wrapping key and a tag of 32 bytes, sealed under a key derived from the master key: nonce, ciphertext, tag.
    package borrowing func kept(
        by key: borrowing SecretBytes, with tag: borrowing SecretBytes, for slot: Slot, of vault: VaultID
    ) throws(VaultError) -> [UInt8] {
        var both = try secretMemory(SecretBytes(zeroed: 64))
        both.withMutableBytes { both in
            wrappingKey.withBytes { both.store(copying: $0, at: 0) }
            tag.withBytes { both.store(copying: $0, at: 32) }
        }
        return try seal(both, key: key, authenticating: SlotKey.keptAssociatedData(slot, vault))
    }

    /// Vault id, "slot key", format version, slot id, kind, salt.
    private static func keptAssociatedData(_ slot: Slot, _ vault: VaultID) -> [UInt8] {
        let version = (0..<4).map { UInt8(truncatingIfNeeded: Header.formatVersion >> UInt32(8 * $0)) }
        return vault.bytes + Array("slot key".utf8) + version + [slot.id, slot.kind.rawValue] + slot.salt
    }

    /// What a chip is asked with instead of the passcode: 32 bytes.
    package static func authorisation(factor: borrowing SecretBytes, slot: Slot) throws(VaultError) -> SecretBytes {
        try crypto(unsafe HKDFSHA256.derive(factor, salt: slot.salt.span.bytes, info: "holdfast/1/tpm-auth", count: 32))
    }

    /// Recognises a passcode that is already known to be wrong.
    package static func repeatTag(factor: borrowing SecretBytes, slot: Slot) throws(VaultError) -> SecretBytes {
        try crypto(unsafe HKDFSHA256.derive(factor, salt: slot.salt.span.bytes, info: "holdfast/1/repeat", count: 32))
    }

    /// Recognises the PIN in a secret that is to be something else. Kept under the master key only.
    static func valueTag(factor: borrowing SecretBytes, slot: Slot) throws(VaultError) -> SecretBytes {
        try crypto(
            unsafe HKDFSHA256.derive(factor, salt: slot.salt.span.bytes, info: "holdfast/1/pin-value", count: 32))
    }

    /// Whether the factor is the one the slot was made with.
    package borrowing func matches(_ slot: Slot) -> Bool {
        unsafe commitment.isEqual(to: slot.commitment.span.bytes)
    }

    /// Unwraps the master key.
    /// - Throws: `damaged` when the slot or the policy it binds was changed.
    package borrowing func unwrap(_ slot: Slot, vault: VaultID, policyDigest: [UInt8]) throws(VaultError) -> SecretBytes
    {
        var master = try secretMemory(SecretBytes(zeroed: 32, lifetime: .longLived))
        let associated = slot.authenticatedData(vault: vault, policyDigest: policyDigest)
        do throws(CryptographyError) {
            var cipher = try AES256GCM(key: wrappingKey)
            try master.withMutableBytes { master throws(CryptographyError) in
                try unsafe cipher.open(
                    slot.wrappedKey.span.bytes, nonce: slot.nonce.span.bytes,
                    authenticating: associated.span.bytes, into: &master)
            }
        } catch .authenticationFailed {
            throw .damaged("the slot or the policy in the header was changed")
        } catch {
            throw VaultError(error)
        }
        return master
    }

    /// A finished slot: commitment set and the master key wrapped.
    package consuming func wrap(
        _ master: borrowing SecretBytes, into slot: Slot, vault: VaultID, policyDigest: [UInt8]
    ) throws(VaultError) -> Slot {
        var slot = slot
        slot.commitment = commitment.withBytes { $0.copied(0..<32) }
        let sealed = try seal(
            master, key: wrappingKey, authenticating: slot.authenticatedData(vault: vault, policyDigest: policyDigest))
        slot.nonce = Array(sealed[..<12])
        slot.wrappedKey = Array(sealed[12...])
        return slot
    }
}

/// Nonce, ciphertext and tag of a short secret under a key used seldom (slots, keybag): a random nonce each.
package func seal(
    _ secret: borrowing SecretBytes, key: borrowing SecretBytes, authenticating associated: [UInt8]
) throws(VaultError) -> [UInt8] {
    try crypto { () throws(CryptographyError) in
        var cipher = try AES256GCM(key: key)
        let nonceBytes = try SecureRandom.bytes(AES256GCM.nonceSize)
        guard let nonce = unsafe Nonce96(copying: nonceBytes.span.bytes) else { throw .invalidSize }
        var box = [UInt8](repeating: 0, count: secret.count + AES256GCM.tagSize)
        try secret.withBytes { secret throws(CryptographyError) in
            let empty = [UInt8]()
            var output = box.mutableSpan
            var bytes = unsafe output.mutableBytes
            try unsafe cipher.seal(
                secret, empty.span.bytes, nonce: nonce, authenticating: associated.span.bytes, into: &bytes)
        }
        return nonceBytes + box
    }
}

extension VaultError {
    private static func this(_ kind: SlotKind) -> String { kind == .pin ? "this PIN" : "this passcode" }

    package static func noTier(_ kind: SlotKind) -> VaultError {
        VaultError(.hardwareUnavailable, "\(this(kind)) needs a TPM that does not answer here")
    }

    package static func foreignHardware(_ kind: SlotKind) -> VaultError {
        VaultError(
            .hardwareUnavailable, "\(this(kind)) belongs to another machine's chip, or this machine's chip was cleared")
    }

    package static func hardwareDestroyed(_ kind: SlotKind) -> VaultError {
        VaultError(
            .hardwareDestroyed,
            "the chip does not answer for \(this(kind)) any more: its limit was reached, it was cleared, or a copy of this "
                + "vault let go of it")
    }
}
