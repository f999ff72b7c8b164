internal import Cryptography
package import KeyStores
package import SecretMemory
package import VaultFormat
package import VaultStorage

/// The key that identifies a home, even while it is locked: it authenticates the home's wipes, and hardware deletes
/// what was made for this home only with it. A backup gets another one, so that its end is not the end of the vault it
/// came from.
///
/// It opens nothing. The header has what it comes to, and the key itself sealed, for a home that lost the file.
package struct WipeKey: ~Copyable, Sendable {
    package static let size = 32

    private let secret: SecretBytes
    private let markKey: SecretBytes
    /// What hardware shows of a share that was made for this home.
    package let owner: HardwareOwner

    package init(_ secret: consuming SecretBytes, of vault: VaultID) throws(VaultError) {
        let home = try WipeKey.derive(secret, vault, "holdfast/1/wipe-home")
        let markKey = try WipeKey.derive(secret, vault, "holdfast/1/wipe-mark")
        owner = HardwareOwner(
            vault: vault,
            home: home.withBytes { $0.copied(0..<32) })
        self.markKey = markKey
        self.secret = secret
    }

    package static func generate(for vault: VaultID) throws(VaultError) -> WipeKey {
        let secret = try crypto { () throws(CryptographyError) in try SecureRandom.secret(size) }
        return try WipeKey(secret, of: vault)
    }

    private static func derive(
        _ secret: borrowing SecretBytes, _ vault: VaultID, _ info: StaticString
    ) throws(VaultError) -> SecretBytes {
        try crypto { () throws(CryptographyError) in
            try unsafe HKDFSHA256.derive(secret, salt: vault.bytes.span.bytes, info: info, count: 32)
        }
    }

    package borrowing func withSecret<T>(_ body: (borrowing SecretBytes) throws(VaultError) -> T) throws(VaultError)
        -> T
    {
        try body(secret)
    }

    /// The mark of a wipe that this home begins now.
    package borrowing func mark(_ cause: WipeCause) throws(VaultError) -> WipeMark {
        var mark = WipeMark(vault: owner.vault, cause: cause, begun: WipeMark.now())
        let covered = mark.authenticatedBytes
        mark.tag = try crypto { () throws(CryptographyError) in
            try unsafe HMACSHA256.authenticate(covered.span.bytes, key: markKey).bytes
        }
        return mark
    }

    /// Whether a wipe of this home put the mark there.
    package borrowing func authenticates(_ mark: WipeMark) -> Bool {
        let covered = mark.authenticatedBytes
        guard mark.vault == owner.vault else { return false }
        return unsafe HMACSHA256.isValid(mark.tag.span.bytes, for: covered.span.bytes, key: markKey)
    }
}

extension HeaderKeys {
    package borrowing func sealed(_ key: borrowing WipeKey) throws(VaultError) -> [UInt8] {
        try key.withSecret { secret throws(VaultError) in
            try seal(wipeKey: secret, of: key.owner.vault)
        }
    }

    /// The key that is sealed in a header.
    /// - Throws: `damaged` where it is not that of the home which the header names.
    package borrowing func ownWipeKey(of header: Header) throws(VaultError) -> WipeKey {
        let key = try WipeKey(openWipeKeyBytes(of: header), of: header.vault)
        guard key.owner.home == header.home else { throw .damaged("the wipe key in the header is another home's") }
        return key
    }

    /// Whether the key that is sealed in a header, whose MAC may be wrong, is that of the home which the header names.
    package borrowing func vouchesForHome(of header: Header) -> Bool {
        do throws(VaultError) { _ = try ownWipeKey(of: header) } catch { return false }
        return true
    }
}

extension Header {
    /// Makes the header that of the home which holds this key. Slots whose shares were made for another home open
    /// nothing from then on: they go, and their shares stay that home's.
    package mutating func belong(to key: borrowing WipeKey, _ keys: borrowing HeaderKeys) throws(VaultError) {
        let owner = key.owner
        slots.removeAll { slot in slot.shareItem.map { !$0.name.belongs(to: owner) } ?? false }
        home = owner.home
        sealedWipeKey = try keys.sealed(key)
    }

    /// Whose the things are that were made in hardware for this header.
    package var owner: HardwareOwner { HardwareOwner(vault: vault, home: home) }
}
