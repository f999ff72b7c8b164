package import BetterAuth
internal import BetterAuthMessages
internal import Cryptography
package import KeyStores
internal import SecretMemory

/// The keys of an identity in a chip where there is one, else inside the credentials.
///
/// Where an account's keys are is settled when it is made, and stands in its credentials: one that began in a chip never
/// goes on with keys outside of it. The chip signs for whoever has 32 random bytes that rest in the credentials, inside
/// the vault: it signs nothing while the vault is locked, and once the record is gone nobody uses the key again, whatever
/// copy of it was kept. Nothing rests in the chip itself.
package struct ChipDeviceKeys: DeviceKeys {
    /// Where the keys of a new account are made.
    package enum Choice: Sendable, Hashable {
        /// In the chip where there is one that can be used, else here.
        case best
        case chip
        case here
    }

    private let chip: (any SigningKeyStore)?
    private let choice: Choice
    private let notify: @Sendable (KeyStoreError) -> Void

    /// - Parameters:
    ///   - chip: The machine's own; nil where it has none.
    ///   - notify: Hears why a chip that should be there was not taken for a new key.
    package init(
        _ chip: (any SigningKeyStore)?, choice: Choice = .best,
        notify: @escaping @Sendable (KeyStoreError) -> Void = { _ in }
    ) {
        self.chip = chip
        self.choice = choice
        self.notify = notify
    }

    #if canImport(Security)
    /// With the Secure Enclave, where the device has one.
    package static func standard(
        _ choice: Choice = .best, notify: @escaping @Sendable (KeyStoreError) -> Void = { _ in }
    ) -> ChipDeviceKeys {
        ChipDeviceKeys(EnclaveSigningKeys.isAvailable ? EnclaveSigningKeys() : nil, choice: choice, notify: notify)
    }
    #else
    /// With the TPM that this machine's environment names, or its own.
    package static func standard(
        _ choice: Choice = .best, notify: @escaping @Sendable (KeyStoreError) -> Void = { _ in }
    ) -> ChipDeviceKeys {
        ChipDeviceKeys(TPMLocation.standard.map { TPMSigningKeys(at: $0) }, choice: choice, notify: notify)
    }
    #endif

    /// - Throws: ``BetterAuth/IdentityError/Code/keyUnavailable`` for a chip that is not there, is busy, or fails.
    package func makeKey(in place: KeyRecord.Place?) throws -> KeyRecord {
        switch (place, choice) {
        case (.here, _), (nil, .here): return try SoftwareDeviceKeys().makeKey(in: .here)
        case (.chip, _), (nil, .chip): return try chipCall { try makeChipKey() }
        case (nil, .best):
            guard chip != nil else { return try SoftwareDeviceKeys().makeKey(in: .here) }
            do { return try makeChipKey() } catch let error as KeyStoreError {
                // A chip that nobody may use here, or that lacks what is needed, is none. One that is busy is one.
                guard error.code == .unavailable || error.code == .unsupported else {
                    throw ChipDeviceKeys.unavailable(error)
                }
                notify(error)
                return try SoftwareDeviceKeys().makeKey(in: .here)
            }
        }
    }

    private func makeChipKey() throws -> KeyRecord {
        guard let chip else { throw ChipDeviceKeys.noChip }
        let authorisation = try SecureRandom.secret(32)
        let key = try chip.makeKey(authorisation: authorisation)
        guard let text = unsafe PublicKeyText(raw: key.publicKey.span.bytes) else {
            throw KeyStoreError(.failure, "the chip made no P-256 key")
        }
        return KeyRecord(publicKey: text, place: .chip, handle: key.data, secret: authorisation)
    }

    package func signer(_ key: KeyRecord) throws -> any SigningKey {
        guard key.place == .chip else { return try SoftwareDeviceKeys().signer(key) }
        guard let chip else { throw ChipDeviceKeys.noChip }
        return ChipSigningKey(chip: chip, key: key)
    }

    package func destroy(_ key: KeyRecord) throws {
        guard key.place == .chip, let chip else { return }
        try chipCall { try chip.delete(key.object) }
    }

    #if canImport(Security)
    private static let chipName = "a Secure Enclave"
    #else
    private static let chipName = "a TPM"
    #endif

    private static let noChip = IdentityError(
        .keyUnavailable, "the identity's keys are to be in \(chipName), and this machine has none")

    fileprivate static func unavailable(_ error: KeyStoreError) -> IdentityError {
        IdentityError(
            .keyUnavailable, "the identity's keys are in \(chipName) that cannot be used now: \(error.reason)")
    }
}

/// A key in a chip, as the client signs with it.
private struct ChipSigningKey: SigningKey {
    let chip: any SigningKeyStore
    let key: KeyRecord
    var publicKey: PublicKeyText { key.publicKey }

    func sign(_ message: RawSpan) throws -> SignatureText {
        let signature = try chipCall {
            try key.withSecret { authorisation throws in
                try chip.sign(message, with: key.object, authorisation: authorisation)
            }
        }
        guard let text = unsafe SignatureText(raw: signature.span.bytes) else {
            throw IdentityError(.keyUnavailable, "the chip gave no signature")
        }
        return text
    }
}

extension KeyRecord {
    /// As the chip takes it.
    fileprivate var object: SigningKeyObject { SigningKeyObject(publicKey: publicKey.rawBytes, data: handle) }
}

/// Runs calls of a chip and turns what they throw into ours.
private func chipCall<R: ~Copyable>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as KeyStoreError { throw ChipDeviceKeys.unavailable(error) }
}
