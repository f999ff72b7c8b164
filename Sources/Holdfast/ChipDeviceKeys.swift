package import BetterAuth
internal import BetterAuthMessages
internal import Cryptography
package import KeyStores
internal import SecretMemory
package import VaultCore

/// The keys of an identity in a chip where there is one, else inside the credentials.
///
/// Where an account's keys are kept is decided at creation and recorded in its credentials: an account that began with
/// keys in a chip never continues with keys outside it. The chip signs only with an authorisation of 32 bytes that are
/// derived from the vault's keybag and the key's id and not stored: it signs nothing while the vault is locked, and the
/// credentials record alone authorises no one. Nothing rests in the chip itself.
package struct ChipDeviceKeys: DeviceKeys {
    /// Where the keys of a new account are made.
    package enum Choice: Sendable, Hashable {
        /// In the chip where there is one that can be used, else here.
        case best
        case chip
        case here
    }

    private let chip: (any SigningKeyStore)?
    private let authority: any KeyAuthority
    private let choice: Choice
    private let notify: @Sendable (KeyStoreError) -> Void

    /// - Parameters:
    ///   - chip: The machine's own; nil where it has none.
    ///   - authority: What authorises it.
    ///   - notify: Hears why a chip that should be there was not taken for a new key.
    package init(
        _ chip: (any SigningKeyStore)?, authority: any KeyAuthority, choice: Choice = .best,
        notify: @escaping @Sendable (KeyStoreError) -> Void = { _ in }
    ) {
        self.chip = chip
        self.authority = authority
        self.choice = choice
        self.notify = notify
    }

    #if canImport(Security)
    /// With the Secure Enclave, where the device has one.
    package static func standard(
        for vault: Vault, _ choice: Choice = .best, notify: @escaping @Sendable (KeyStoreError) -> Void = { _ in }
    ) -> ChipDeviceKeys {
        ChipDeviceKeys(
            EnclaveSigningKeys.isAvailable ? EnclaveSigningKeys() : nil, authority: VaultKeyAuthority(vault),
            choice: choice, notify: notify)
    }
    #else
    /// With the TPM that this machine's environment names, or its own.
    package static func standard(
        for vault: Vault, _ choice: Choice = .best, notify: @escaping @Sendable (KeyStoreError) -> Void = { _ in }
    ) -> ChipDeviceKeys {
        ChipDeviceKeys(
            TPMLocation.standard.map { TPMSigningKeys(at: $0) }, authority: VaultKeyAuthority(vault), choice: choice,
            notify: notify)
    }
    #endif

    /// - Throws: ``BetterAuth/IdentityError/Code/keyUnavailable`` for a chip that is not there, is busy, or fails.
    package func makeKey(in place: KeyRecord.Place?) throws -> KeyRecord {
        switch (place, choice) {
        case (.here, _), (nil, .here): return try makeKeyHere()
        case (.chip, _), (nil, .chip): return try chipCall { try makeChipKey() }
        case (nil, .best):
            guard chip != nil else { return try makeKeyHere() }
            do { return try makeChipKey() } catch let error as KeyStoreError {
                // A chip that this user may not use, or that lacks what is needed, is treated as missing. One that is
                // busy is one.
                guard error.code == .unavailable || error.code == .unsupported else {
                    throw ChipDeviceKeys.unavailable(error)
                }
                notify(error)
                return try makeKeyHere()
            }
        }
    }

    /// Says under which of the vault's keys it was made, so that it is known when it is due.
    private func makeKeyHere() throws -> KeyRecord {
        let key = try SoftwareDeviceKeys().makeKey(in: .here)
        let handle = KeyHandle(epoch: try authority.epoch())
        return try key.withSecret { scalar throws in
            KeyRecord(publicKey: key.publicKey, place: .here, handle: handle.bytes, secret: try scalar.copy())
        }
    }

    private func makeChipKey() throws -> KeyRecord {
        guard let chip else { throw ChipDeviceKeys.noChip }
        let (epoch, id) = (try authority.epoch(), try ChipDeviceKeys.newID())
        let key = try chip.makeKey(authorisation: authority.authorisation(epoch: epoch, key: id))
        guard let text = unsafe PublicKeyText(raw: key.publicKey.span.bytes) else {
            throw KeyStoreError(.failure, "the chip made no P-256 key")
        }
        let handle = KeyHandle(epoch: epoch, id: id, object: key.data)
        return KeyRecord(publicKey: text, place: .chip, handle: handle.bytes, secret: try SecretBytes(zeroed: 0))
    }

    private static func newID() throws -> [UInt8] {
        try SecureRandom.secret(KeyHandle.idSize).withBytes { bytes in
            (0..<bytes.byteCount).map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
        }
    }

    package func signer(_ key: KeyRecord) throws -> any SigningKey {
        guard key.place == .chip else { return try SoftwareDeviceKeys().signer(key) }
        guard let chip else { throw ChipDeviceKeys.noChip }
        return try ChipSigningKey(chip: chip, authority: authority, key: key)
    }

    package func destroy(_ key: KeyRecord) throws {
        guard key.place == .chip, let chip, let handle = KeyHandle(key) else { return }
        try chipCall { try chip.delete(handle.object(of: key)) }
    }

    #if canImport(Security)
    private static let chipName = "a Secure Enclave"
    #else
    private static let chipName = "a TPM"
    #endif

    private static let noChip = IdentityError(
        .keyUnavailable, "the identity's keys are to be in \(chipName), and this machine has none")

    /// Builds from before the first release kept what authorises the chip in the record.
    fileprivate static let fromBefore = IdentityError(
        .keysLost, "this identity's keys were made by a build of Holdfast from before its first release")

    fileprivate static func unavailable(_ error: KeyStoreError) -> IdentityError {
        IdentityError(
            .keyUnavailable, "the identity's keys are in \(chipName) that cannot be used now: \(error.reason)")
    }
}

/// A key in a chip, as the client signs with it.
private struct ChipSigningKey: SigningKey {
    let publicKey: PublicKeyText
    private let chip: any SigningKeyStore
    private let authority: any KeyAuthority
    private let handle: KeyHandle
    private let object: SigningKeyObject

    init(chip: any SigningKeyStore, authority: any KeyAuthority, key: KeyRecord) throws {
        guard let handle = KeyHandle(key), key.withSecret({ $0.count }) == 0 else { throw ChipDeviceKeys.fromBefore }
        self.chip = chip
        self.authority = authority
        self.handle = handle
        publicKey = key.publicKey
        object = handle.object(of: key)
    }

    func sign(_ message: RawSpan) throws -> SignatureText {
        let authorisation = try authority.authorisation(epoch: handle.epoch, key: handle.id)
        let signature = try chipCall { try chip.sign(message, with: object, authorisation: authorisation) }
        guard let text = unsafe SignatureText(raw: signature.span.bytes) else {
            throw IdentityError(.keyUnavailable, "the chip gave no signature")
        }
        return text
    }
}

extension KeyHandle {
    /// As the chip takes it.
    fileprivate func object(of key: KeyRecord) -> SigningKeyObject {
        SigningKeyObject(publicKey: key.publicKey.rawBytes, data: object)
    }
}

/// Runs calls of a chip and turns what they throw into ours.
private func chipCall<R: ~Copyable>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as KeyStoreError { throw ChipDeviceKeys.unavailable(error) }
}
