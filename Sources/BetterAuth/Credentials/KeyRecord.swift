package import BetterAuthMessages
internal import Cryptography
package import SecretMemory

/// A private key as the credentials hold it: the scalar itself, or what a chip needs to use its own.
package final class KeyRecord: Sendable {
    /// Where the private half is.
    package enum Place: UInt8, Sendable, Hashable, CaseIterable {
        /// In `secret`: 32 bytes, big endian.
        case here = 1
        /// In a chip, which finds it by `handle` and uses it for a caller that knows `secret`.
        case chip = 2
    }

    package let publicKey: PublicKeyText
    package let place: Place
    /// Opaque and no secret; empty for a key that is here.
    package let handle: [UInt8]
    private let secret: SecretBytes

    package init(publicKey: PublicKeyText, place: Place, handle: [UInt8], secret: consuming SecretBytes) {
        self.publicKey = publicKey
        self.place = place
        self.handle = handle
        self.secret = secret
    }

    /// Lends the scalar, or what the chip is authorised with.
    package func withSecret<R: ~Copyable, E: Error>(_ body: (borrowing SecretBytes) throws(E) -> R) throws(E) -> R {
        try body(secret)
    }
}

/// Makes and uses the keys of a device: in a chip where there is one, else in memory.
package protocol DeviceKeys: Sendable {
    /// A fresh key.
    /// - Parameter place: Where the account's other keys are, so that they stay together; nil for the best place of
    ///   this machine.
    /// - Throws: ``IdentityError/Code/keyUnavailable`` where nothing makes keys in this place.
    func makeKey(in place: KeyRecord.Place?) throws -> KeyRecord
    /// What signs with a key.
    /// - Throws: ``IdentityError/Code/keyUnavailable`` where its place cannot be reached.
    func signer(_ key: KeyRecord) throws -> any SigningKey
    /// Destroys a key that is not used any more; succeeds if it does not exist.
    func destroy(_ key: KeyRecord) throws
}

/// Keys that rest in the credentials, and in memory while they are used.
package struct SoftwareDeviceKeys: DeviceKeys {
    package init() {}

    /// - Throws: ``IdentityError/Code/keyUnavailable`` for a key in a chip.
    package func makeKey(in place: KeyRecord.Place? = nil) throws -> KeyRecord {
        guard place != .chip else { throw SoftwareDeviceKeys.noChip }
        return try KeyRecord(SoftwareSigningKey.generate())
    }

    /// - Throws: ``IdentityError/Code/keyUnavailable`` for a key that a chip holds.
    package func signer(_ key: KeyRecord) throws -> any SigningKey {
        guard key.place == .here else { throw SoftwareDeviceKeys.noChip }
        let signer = try key.withSecret { secret throws in try SoftwareSigningKey(scalar: secret) }
        guard signer.publicKey == key.publicKey else { throw IdentityError.damaged("a key is not the one it says") }
        return signer
    }

    /// The last reference wipes the scalar.
    package func destroy(_ key: KeyRecord) throws {}

    private static let noChip = IdentityError(.keyUnavailable, "this identity's keys are in a chip that is not there")
}

extension KeyRecord {
    package convenience init(_ key: SoftwareSigningKey) throws {
        self.init(publicKey: key.publicKey, place: .here, handle: [], secret: try key.scalar())
    }
}
