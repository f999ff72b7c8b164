package import Cryptography
package import SecretMemory
package import VaultFormat
package import VaultHeader
package import VaultStorage
internal import SystemCalls

/// The private key that opens what was sealed to the vault while it was locked: made from a seed in the keybag.
package struct InboxKey: ~Copyable {
    package let privateKey: P256PrivateKey

    package init(seed: borrowing SecretBytes, vault: VaultID) throws(VaultError) {
        privateKey = try SeededKey.make(from: seed, vault: vault, label: "holdfast/1/inbox-scalar")
    }

    /// Whether a file's public half was made from this seed. Costs one hash and nothing on the curve.
    package static func tag(_ file: OpenPublicKeyFile, seed: borrowing SecretBytes) throws(VaultError) -> Digest {
        try crypto { () throws(CryptographyError) in
            let key = try BLAKE3.deriveKey(context: "holdfast/1/inbox-public", material: seed, lifetime: .transient)
            let tagged = OpenPublicKeyFile.tagged(vault: file.vault, epoch: file.epoch, point: file.point)
            return try key.withBytes { key throws(CryptographyError) in
                try unsafe BLAKE3.keyedHash(tagged.span.bytes, key: key)
            }
        }
    }
}

/// `open.pub` as an unlocked vault finds it.
package enum OpenPublicKeyState: String, Sendable, Hashable {
    /// The vault has no key for write-only items: it was made before there were any, and its keys were not written
    /// since.
    case unavailable = "unavailable"
    /// It is the vault's own.
    case right = "right"
    /// There was none that could be used; it has been written.
    case written = "written"
    /// It was not the vault's own, and has been replaced. What was sealed to it meanwhile is lost to the user, and may
    /// be readable by whoever put it there.
    case replaced = "replaced"
    /// It is missing or not the vault's own, and could not be written.
    case wrong = "wrong"
}

/// The file with the vault's public key. Nothing protects it while the vault is locked: anyone who can write to the
/// home can replace it until the next unlock.
package enum OpenPublicKey {
    package static func read(in home: HomeDirectory) throws(VaultError) -> OpenPublicKeyFile? {
        guard let file = try home.openFile(OpenFiles.publicKey, O_RDONLY) else { return nil }
        let bytes = try file.read(OpenPublicKeyFile.size + 1, at: 0)
        return try format(OpenFiles.publicKey, OpenPublicKeyFile(parsing: bytes, checksum: HeaderFile.checksum))
    }

    /// Compares the file with the keys.
    package static func state(_ keybag: borrowing Keybag, of vault: VaultID, in home: HomeDirectory) throws(VaultError)
        -> OpenPublicKeyState
    {
        guard let epoch = keybag.newestInboxEpoch else { return .unavailable }
        // Nothing was sealed to a file that cannot be read.
        guard let found = (try? read(in: home)) ?? nil else { return .written }
        guard found.vault == vault else { return .replaced }
        if try isOurs(found, keybag, epoch: epoch) { return .right }
        // After a rekey it is the former one, which is no stranger's.
        for older in keybag.inboxEpochs.dropFirst() where try isOurs(found, keybag, epoch: older) { return .written }
        return .replaced
    }

    private static func isOurs(
        _ file: OpenPublicKeyFile, _ keybag: borrowing Keybag, epoch: UInt32
    ) throws(VaultError) -> Bool {
        guard file.epoch == epoch else { return false }
        let tag = try InboxKey.tag(file, seed: keybag.key(.inbox, epoch: epoch))
        return tag.withBytes { tag in file.tag.withRawSpan { constantTimeEquals(tag, $0) } }
    }

    /// Sees to it that the file holds the vault's own key.
    package static func repair(_ keybag: borrowing Keybag, of vault: VaultID, in home: HomeDirectory)
        -> OpenPublicKeyState
    {
        do throws(VaultError) {
            let state = try state(keybag, of: vault, in: home)
            if state == .written || state == .replaced { try write(keybag, of: vault, in: home) }
            return state
        } catch { return .wrong }
    }

    package static func write(_ keybag: borrowing Keybag, of vault: VaultID, in home: HomeDirectory) throws(VaultError)
    {
        guard let epoch = keybag.newestInboxEpoch else { return }
        let seed = try keybag.key(.inbox, epoch: epoch)
        let point = try InboxKey(seed: seed, vault: vault).privateKey.publicKey.compressed
        let unsigned = OpenPublicKeyFile(vault: vault, epoch: epoch, point: point, tag: [])
        let tag = try InboxKey.tag(unsigned, seed: seed).bytes
        let content = OpenPublicKeyFile(vault: vault, epoch: epoch, point: point, tag: tag)
        let bytes = content.encoded(checksum: HeaderFile.checksum)
        try home.publish(OpenFiles.publicKey) { file throws(VaultError) in try file.write(bytes, at: 0) }
    }
}
