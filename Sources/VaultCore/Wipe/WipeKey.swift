internal import Cryptography
internal import KeyStores
internal import SecretMemory
internal import VaultFormat
internal import VaultStorage

/// The key that identifies a home, even while it is locked: it authenticates the home's wipes, and hardware deletes
/// what was made for this home only with it. A backup gets another one, so that its end is not the end of the vault it
/// came from.
///
/// It opens nothing. The header has what it comes to, and the key itself sealed, for a home that lost the file.
struct WipeKey: ~Copyable, Sendable {
    static let size = 32

    private let secret: SecretBytes
    private let markKey: SecretBytes
    /// What hardware shows of a share that was made for this home.
    let owner: HardwareOwner

    init(_ secret: consuming SecretBytes, of vault: VaultID) throws(VaultError) {
        let home = try WipeKey.derive(secret, vault, "holdfast/1/wipe-home")
        let markKey = try WipeKey.derive(secret, vault, "holdfast/1/wipe-mark")
        owner = HardwareOwner(
            vault: vault,
            home: home.withBytes { $0.copied(0..<32) })
        self.markKey = markKey
        self.secret = secret
    }

    static func generate(for vault: VaultID) throws(VaultError) -> WipeKey {
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

    borrowing func withSecret<T>(_ body: (borrowing SecretBytes) throws(VaultError) -> T) throws(VaultError) -> T {
        try body(secret)
    }

    /// The mark of a wipe that this home begins now.
    borrowing func mark(_ cause: WipeCause) throws(VaultError) -> WipeMark {
        var mark = WipeMark(vault: owner.vault, cause: cause, begun: Wipe.now())
        let covered = mark.authenticatedBytes
        mark.tag = try crypto { () throws(CryptographyError) in
            try unsafe HMACSHA256.authenticate(covered.span.bytes, key: markKey).bytes
        }
        return mark
    }

    /// Whether a wipe of this home put the mark there.
    borrowing func authenticates(_ mark: WipeMark) -> Bool {
        let covered = mark.authenticatedBytes
        guard mark.vault == owner.vault else { return false }
        return unsafe HMACSHA256.isValid(mark.tag.span.bytes, for: covered.span.bytes, key: markKey)
    }
}

extension HeaderKeys {
    borrowing func sealed(_ key: borrowing WipeKey) throws(VaultError) -> [UInt8] {
        try key.withSecret { secret throws(VaultError) in
            try seal(wipeKey: secret, of: key.owner.vault)
        }
    }

    /// The key that is sealed in a header.
    /// - Throws: `damaged` where it is not that of the home which the header names.
    borrowing func ownWipeKey(of header: Header) throws(VaultError) -> WipeKey {
        let key = try WipeKey(openWipeKeyBytes(of: header), of: header.vault)
        guard key.owner.home == header.home else { throw .damaged("the wipe key in the header is another home's") }
        return key
    }

    /// Whether the key that is sealed in a header, whose MAC may be wrong, is that of the home which the header names.
    borrowing func vouchesForHome(of header: Header) -> Bool {
        do throws(VaultError) { _ = try ownWipeKey(of: header) } catch { return false }
        return true
    }
}

extension Header {
    /// Makes the header that of the home which holds this key. Slots whose shares were made for another home open
    /// nothing from then on: they go, and their shares stay that home's.
    mutating func belong(to key: borrowing WipeKey, _ keys: borrowing HeaderKeys) throws(VaultError) {
        let owner = key.owner
        slots.removeAll { slot in slot.shareItem.map { !$0.name.belongs(to: owner) } ?? false }
        home = owner.home
        sealedWipeKey = try keys.sealed(key)
    }

    /// Whose the things are that were made in hardware for this header.
    var owner: HardwareOwner { HardwareOwner(vault: vault, home: home) }
}
