package import Cryptography
internal import SecretMemory
package import VaultFormat
package import VaultStorage
internal import SystemCalls

/// The key that signs a wipe's receipt.
package struct ReceiptKey: ~Copyable {
    package let key: P256PrivateKey
    package let origin: WipeReceipt.KeyOrigin

    /// 33 bytes.
    package var publicBytes: [UInt8] { key.publicKey.compressed }

    package static func generate(_ origin: WipeReceipt.KeyOrigin) throws(VaultError) -> ReceiptKey {
        let key = try crypto(P256PrivateKey.generate())
        return ReceiptKey(key: key, origin: origin)
    }
}

/// Where the private half waits for the wipe: a file that only its owner reads, overwritten after signing. Anyone who
/// reads it can sign a false receipt; every receipt says so.
package enum ReceiptKeyFile {
    package static let name = "receipt.key"
    package static let names = file.names

    private static let file = SecretFile(name: name, magic: Array("HFRECKEY".utf8), size: 96)
    private static let originOffset = SecretFile.fieldsOffset
    private static let scalarOffset = 32
    private static let scalarEnd = 64

    /// Makes a key and stores it durably in place of any older one.
    /// - Returns: The public half.
    package static func make(
        in home: HomeDirectory, vault: VaultID, origin: WipeReceipt.KeyOrigin
    ) throws(VaultError) -> [UInt8] {
        let key = try ReceiptKey.generate(origin)
        let scalar = try crypto(key.key.scalar())
        // The older one is overwritten, not only replaced.
        try destroy(in: home)
        do throws(VaultError) {
            try file.write(for: vault, in: home) { bytes in
                bytes.store(origin == .enabled ? 0 : 1 as UInt32, at: originOffset)
                scalar.withBytes { SecretFile.store($0, in: &bytes, at: scalarOffset) }
            }
        } catch {
            try? destroy(in: home)  // its name may be there and not be durable
            throw error
        }
        return key.publicBytes
    }

    /// The stored key; nil when there is none for this vault, or what is there is not what was written.
    package static func load(in home: HomeDirectory, vault: VaultID) throws(VaultError) -> ReceiptKey? {
        guard let bytes = try file.load(for: vault, in: home) else { return nil }
        let origin = bytes.withBytes { (bytes: RawSpan) -> WipeReceipt.KeyOrigin? in
            switch bytes.integer(at: originOffset, as: UInt32.self) {
            case 0: return .enabled
            case 1: return .wipe
            default: return nil
            }
        }
        guard let origin else { return nil }
        let scalar = try bytes.withBytes { bytes throws(VaultError) in
            try secretMemory(SecretBytes(copying: bytes.extracting(scalarOffset..<scalarEnd)))
        }
        do throws(CryptographyError) {
            return ReceiptKey(key: try P256PrivateKey(scalar: scalar), origin: origin)
        } catch {
            if error == .scalarOutOfRange { return nil }
            throw VaultError(error)
        }
    }

    /// Overwrites and removes it; succeeds if there is none.
    package static func destroy(in home: HomeDirectory) throws(VaultError) { try file.destroy(in: home) }
}
