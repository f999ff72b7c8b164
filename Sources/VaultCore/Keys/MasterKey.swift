internal import Cryptography
internal import SecretMemory
internal import VaultFormat

/// What the master key is used for: two keys derived from it, one that authenticates the header and one that wraps the
/// keybag. They are kept while the vault is unlocked, the master key itself only while slots are made.
struct HeaderKeys: ~Copyable, Sendable {
    private let macKey: SecretBytes
    private let keybagKey: SecretBytes

    init(master: borrowing SecretBytes, vault: VaultID) throws(VaultError) {
        let mac = try HeaderKeys.derive(master, vault, "holdfast/1/header-mac")
        let keybag = try HeaderKeys.derive(master, vault, "holdfast/1/keybag")
        macKey = mac
        keybagKey = keybag
    }

    private init(macKey: consuming SecretBytes, keybagKey: consuming SecretBytes) {
        self.macKey = macKey
        self.keybagKey = keybagKey
    }

    borrowing func copy() throws(VaultError) -> HeaderKeys {
        let mac = try secretMemory { () throws(SecretMemoryError) in try macKey.copy(lifetime: .longLived) }
        let keybag = try secretMemory { () throws(SecretMemoryError) in try keybagKey.copy(lifetime: .longLived) }
        return HeaderKeys(macKey: mac, keybagKey: keybag)
    }

    private static func derive(_ master: borrowing SecretBytes, _ vault: VaultID, _ info: StaticString)
        throws(VaultError) -> SecretBytes
    {
        try crypto { () throws(CryptographyError) in
            try unsafe HKDFSHA256.derive(
                master, salt: vault.bytes.span.bytes, info: info, count: 32, lifetime: .longLived)
        }
    }

    /// The MAC over a header's covered bytes.
    borrowing func mac(_ covered: [UInt8]) throws(VaultError) -> [UInt8] {
        try crypto { () throws(CryptographyError) in
            try unsafe HMACSHA256.authenticate(covered.span.bytes, key: macKey).bytes
        }
    }

    /// Whether the header is as its last writer left it.
    borrowing func authenticates(_ header: Header) -> Bool {
        guard let covered = try? header.authenticatedBytes() else { return false }
        return unsafe HMACSHA256.isValid(header.mac.span.bytes, for: covered.span.bytes, key: macKey)
    }

    borrowing func seal(keybag: borrowing SecretBytes, vault: VaultID, epoch: UInt32) throws(VaultError) -> [UInt8] {
        try VaultCore.seal(
            keybag, key: keybagKey, authenticating: HeaderKeys.keybagAssociatedData(vault: vault, epoch: epoch))
    }

    borrowing func openKeybag(of header: Header) throws(VaultError) -> SecretBytes {
        let box = header.sealedKeybag
        let size = box.count - AES256GCM.nonceSize - AES256GCM.tagSize
        guard size >= 0 else { throw .damaged("the keybag in the header is too short") }
        let associated = HeaderKeys.keybagAssociatedData(vault: header.vault, epoch: header.epoch)
        var keybag = try secretMemory { () throws(SecretMemoryError) in
            try SecretBytes(zeroed: size, lifetime: .longLived)
        }
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
    func digest() throws(VaultError) -> [UInt8] {
        let bytes = try format(HeaderFile.name) { () throws(FormatError) in try encoded() }
        return unsafe BLAKE3.hash(bytes.span.bytes).bytes
    }
}
