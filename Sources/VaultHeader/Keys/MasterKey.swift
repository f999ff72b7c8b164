internal import Cryptography
package import SecretMemory
package import VaultFormat
package import VaultStorage

/// What the master key is used for: keys derived from it, of which one authenticates the header, one wraps the keybag,
/// and one tells this vault's notes of what lies in hardware from others. They are kept while the vault is unlocked,
/// the master key itself only while slots are made.
package struct HeaderKeys: ~Copyable, Sendable {
    private let macKey: SecretBytes
    private let keybagKey: SecretBytes
    package let noteKey: NoteKey

    package init(master: borrowing SecretBytes, vault: VaultID) throws(VaultError) {
        let mac = try HeaderKeys.derive(master, vault, "holdfast/1/header-mac")
        let keybag = try HeaderKeys.derive(master, vault, "holdfast/1/keybag")
        let note = try HeaderKeys.derive(master, vault, "holdfast/1/pending")
        macKey = mac
        keybagKey = keybag
        noteKey = NoteKey(note)
    }

    private init(macKey: consuming SecretBytes, keybagKey: consuming SecretBytes, noteKey: NoteKey) {
        self.macKey = macKey
        self.keybagKey = keybagKey
        self.noteKey = noteKey
    }

    package borrowing func copy() throws(VaultError) -> HeaderKeys {
        let mac = try secretMemory(macKey.copy(lifetime: .longLived))
        let keybag = try secretMemory(keybagKey.copy(lifetime: .longLived))
        return HeaderKeys(macKey: mac, keybagKey: keybag, noteKey: noteKey)
    }

    private static func derive(_ master: borrowing SecretBytes, _ vault: VaultID, _ info: StaticString)
        throws(VaultError) -> SecretBytes
    {
        try crypto(
            unsafe HKDFSHA256.derive(
                master, salt: vault.bytes.span.bytes, info: info, count: 32, lifetime: .longLived))
    }

    /// The MAC over a header's covered bytes.
    package borrowing func mac(_ covered: [UInt8]) throws(VaultError) -> [UInt8] {
        try crypto(unsafe HMACSHA256.authenticate(covered.span.bytes, key: macKey).bytes)
    }

    /// Whether the header is as its last writer left it.
    package borrowing func authenticates(_ header: Header) -> Bool {
        guard let covered = try? header.authenticatedBytes() else { return false }
        return unsafe HMACSHA256.isValid(header.mac.span.bytes, for: covered.span.bytes, key: macKey)
    }

    package borrowing func seal(keybag: borrowing SecretBytes, vault: VaultID, epoch: UInt32) throws(VaultError)
        -> [UInt8]
    {
        try VaultHeader.seal(
            keybag, key: keybagKey, authenticating: HeaderKeys.keybagAssociatedData(vault: vault, epoch: epoch))
    }

    package borrowing func openKeybag(of header: Header) throws(VaultError) -> SecretBytes {
        let associated = HeaderKeys.keybagAssociatedData(vault: header.vault, epoch: header.epoch)
        return try open(header.sealedKeybag, associated, lifetime: .longLived)
    }

    private borrowing func open(
        _ box: [UInt8], _ associated: [UInt8], lifetime: SecretLifetime
    ) throws(VaultError) -> SecretBytes {
        let size = box.count - AES256GCM.nonceSize - AES256GCM.tagSize
        guard size >= 0 else { throw .damaged("the keybag in the header is too short") }
        var keybag = try secretMemory(SecretBytes(zeroed: size, lifetime: lifetime))
        try crypto { () throws(CryptographyError) in
            var cipher = try AES256GCM(key: keybagKey)
            try keybag.withMutableBytes { keybag throws(CryptographyError) in
                let bytes = unsafe box.span.bytes
                try unsafe cipher.open(
                    bytes.extracting(AES256GCM.nonceSize..<bytes.byteCount),
                    nonce: bytes.extracting(0..<AES256GCM.nonceSize), authenticating: associated.span.bytes,
                    into: &keybag)
            }
        }
        return keybag
    }

    package borrowing func seal(wipeKey: borrowing SecretBytes, of vault: VaultID) throws(VaultError) -> [UInt8] {
        try VaultHeader.seal(wipeKey, key: keybagKey, authenticating: HeaderKeys.wipeKeyAssociatedData(vault))
    }

    borrowing func openWipeKeyBytes(of header: Header) throws(VaultError) -> SecretBytes {
        try open(header.sealedWipeKey, HeaderKeys.wipeKeyAssociatedData(header.vault), lifetime: .transient)
    }

    /// Vault id, "wipe key", format version.
    private static func wipeKeyAssociatedData(_ vault: VaultID) -> [UInt8] {
        vault.bytes + Array("wipe key".utf8)
            + (0..<4).map { UInt8(truncatingIfNeeded: Header.formatVersion >> UInt32(8 * $0)) }
    }

    /// Vault id, "keybag", format version, epoch.
    private static func keybagAssociatedData(vault: VaultID, epoch: UInt32) -> [UInt8] {
        let numbers = [Header.formatVersion, epoch].flatMap { value in
            (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
        }
        return vault.bytes + Array("keybag".utf8) + numbers
    }
}

extension VaultPolicy {
    /// What counted slots bind: BLAKE3 of the canonical bytes.
    package func digest() throws(VaultError) -> [UInt8] {
        let bytes = try format(HeaderFile.name, encoded())
        return unsafe BLAKE3.hash(bytes.span.bytes).bytes
    }
}
