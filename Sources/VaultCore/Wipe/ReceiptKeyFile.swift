internal import Cryptography
internal import SecretMemory
internal import VaultFormat
internal import SystemCalls

/// The key that signs a wipe's receipt.
struct ReceiptKey: ~Copyable {
    let key: P256PrivateKey
    let origin: WipeReceipt.KeyOrigin

    /// 33 bytes.
    var publicBytes: [UInt8] { key.publicKey.compressed }

    static func generate(_ origin: WipeReceipt.KeyOrigin) throws(VaultError) -> ReceiptKey {
        let key = try crypto { () throws(CryptographyError) in try P256PrivateKey.generate() }
        return ReceiptKey(key: key, origin: origin)
    }
}

/// Where the private half waits for the wipe: a file that only its owner reads, overwritten after signing. Anyone who
/// reads it can sign a false receipt; every receipt says so.
enum ReceiptKeyFile {
    static let name = "receipt.key"
    static let names = [name, HomeDirectory.part(of: name)]

    private static let magic = Array("HFRECKEY".utf8)
    private static let size = 96
    private static let version: UInt32 = 1
    private static let vaultOffset = 12
    private static let originOffset = 28
    private static let scalarOffset = 32
    private static let checksumOffset = 64

    /// Makes a key and stores it durably in place of any older one.
    /// - Returns: The public half.
    static func make(
        in home: HomeDirectory, vault: VaultID, origin: WipeReceipt.KeyOrigin
    ) throws(VaultError) -> [UInt8] {
        let key = try ReceiptKey.generate(origin)
        let bytes = try encoded(key, vault)
        try destroy(in: home)
        do throws(VaultError) {
            try home.publish(name) { file throws(VaultError) in
                try bytes.withBytes { bytes throws(VaultError) in try file.write(bytes, at: 0) }
            }
        } catch {
            try? destroy(in: home)  // its name may be there and not be durable
            throw error
        }
        return key.publicBytes
    }

    /// The stored key; nil when there is none for this vault, or what is there is not what was written.
    static func load(in home: HomeDirectory, vault: VaultID) throws(VaultError) -> ReceiptKey? {
        guard let file = try home.openFile(name, O_RDONLY) else { return nil }
        var bytes = try secretMemory { () throws(SecretMemoryError) in try SecretBytes(zeroed: size) }
        let count = try ReceiptKeyFile.read(file, into: &bytes)
        let stored = try file.status().size
        guard count == size, stored == UInt64(size) else { return nil }
        let origin = bytes.withBytes { (bytes: RawSpan) -> WipeReceipt.KeyOrigin? in
            let isOurs =
                starts(bytes, with: magic, at: 0) && bytes.integer(at: 8, as: UInt32.self) == version
                && starts(bytes, with: vault.bytes, at: vaultOffset)
                && starts(bytes, with: HeaderFile.checksum(bytes.extracting(0..<checksumOffset)), at: checksumOffset)
            guard isOurs else { return nil }
            switch bytes.integer(at: originOffset, as: UInt32.self) {
            case 0: return .enabled
            case 1: return .wipe
            default: return nil
            }
        }
        guard let origin else { return nil }
        let scalar = try bytes.withBytes { bytes throws(VaultError) in
            try secretMemory { () throws(SecretMemoryError) in
                try SecretBytes(copying: bytes.extracting(scalarOffset..<checksumOffset))
            }
        }
        do throws(CryptographyError) {
            return ReceiptKey(key: try P256PrivateKey(scalar: scalar), origin: origin)
        } catch {
            if error == .scalarOutOfRange { return nil }
            throw VaultError(error)
        }
    }

    private static func read(
        _ file: borrowing DurableFile, into bytes: inout SecretBytes
    ) throws(VaultError) -> Int {
        try bytes.withMutableBytes { bytes throws(VaultError) in try file.read(into: &bytes, at: 0) }
    }

    /// Overwrites and removes it; none is fine.
    static func destroy(in home: HomeDirectory) throws(VaultError) {
        for name in names { try home.clear(name) }
    }

    private static func encoded(_ key: borrowing ReceiptKey, _ vault: VaultID) throws(VaultError) -> SecretBytes {
        let scalar = try crypto { () throws(CryptographyError) in try key.key.scalar() }
        var bytes = try secretMemory { () throws(SecretMemoryError) in try SecretBytes(zeroed: size) }
        let origin: UInt32 = key.origin == .enabled ? 0 : 1
        bytes.withMutableBytes { bytes in
            store(magic, in: &bytes, at: 0)
            bytes.store(version, at: 8)
            store(vault.bytes, in: &bytes, at: vaultOffset)
            bytes.store(origin, at: originOffset)
            scalar.withBytes { scalar in
                for index in 0..<scalar.byteCount {
                    bytes.store(scalar.integer(at: index, as: UInt8.self) ?? 0, at: scalarOffset + index)
                }
            }
        }
        let checksum = bytes.withBytes { HeaderFile.checksum($0.extracting(0..<checksumOffset)) }
        bytes.withMutableBytes { store(checksum, in: &$0, at: checksumOffset) }
        return bytes
    }

    private static func store(_ part: [UInt8], in bytes: inout MutableRawSpan, at offset: Int) {
        for (index, byte) in part.enumerated() { bytes.store(byte, at: offset + index) }
    }

    /// For parts that are not secret.
    private static func starts(_ bytes: RawSpan, with part: [UInt8], at offset: Int) -> Bool {
        part.indices.allSatisfy { bytes.integer(at: offset + $0, as: UInt8.self) == part[$0] }
    }
}
