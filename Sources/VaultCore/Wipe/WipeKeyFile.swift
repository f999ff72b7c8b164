internal import KeyStores
internal import SecretMemory
internal import VaultFormat
internal import SystemCalls

/// The home's wipe key on the disk. It is needed before the vault is opened, so it is not encrypted: anyone who reads
/// the home has it, and anyone who has it and can write here could destroy the home anyway. No backup copies it.
enum WipeKeyFile {
    static let name = "wipe.key"

    private static let magic = Array("HFWIPKEY".utf8)
    private static let size = 128
    private static let version: UInt32 = 1
    private static let vaultOffset = 12
    private static let secretOffset = 32
    private static let deviceOffset = 64
    private static let inodeOffset = 72
    private static let checksumOffset = 96

    /// Makes a key and stores it durably in place of any other.
    static func make(in home: HomeDirectory, vault: VaultID) throws(VaultError) -> WipeKey {
        let key = try WipeKey.generate(for: vault)
        try write(key, in: home)
        return key
    }

    static func write(_ key: borrowing WipeKey, in home: HomeDirectory) throws(VaultError) {
        guard try home.erase(name, overwriting: false) != .foreign else { throw .damaged("\(name) is not a file") }
        guard let file = try home.openFile(name, O_RDWR | O_CREAT | O_EXCL) else {
            throw .damaged("\(name) cannot be created")
        }
        do throws(VaultError) {
            let bytes = try encoded(key, place(of: home))
            try bytes.withBytes { bytes throws(VaultError) in try file.write(bytes, at: 0) }
            try file.synchronize()
            try home.synchronize()
        } catch {
            home.remove(name)  // a torn key is of no use
            throw error
        }
    }

    /// The stored key, or another one in its place; where it cannot be stored one that is in memory only.
    static func loadOrMake(in home: HomeDirectory, vault: VaultID) throws(VaultError) -> WipeKey {
        if let key = WipeKeyFile.stored(in: home, vault: vault) { return key }
        let key = try WipeKey.generate(for: vault)
        try? write(key, in: home)
        return key
    }

    /// The stored key; nil when there is none for this vault, or what is there is not what was written.
    /// - Throws: What reading can throw.
    static func load(in home: HomeDirectory, vault: VaultID) throws(VaultError) -> WipeKey? {
        guard let bytes = try read(in: home) else { return nil }
        let isOurs = bytes.withBytes { starts($0, with: vault.bytes, at: vaultOffset) }
        guard isOurs else { return nil }
        let secret = try bytes.withBytes { bytes throws(VaultError) in
            try secretMemory { () throws(SecretMemoryError) in
                try SecretBytes(copying: bytes.extracting(secretOffset..<secretOffset + WipeKey.size))
            }
        }
        return try WipeKey(secret, of: vault)
    }

    /// Whether the key was made in another folder than this one, which is a copy or was moved. It is unauthenticated:
    /// it only affects the text of a warning.
    static func isFromElsewhere(_ home: HomeDirectory) -> Bool {
        guard let bytes = (try? read(in: home)) ?? nil, let here = try? place(of: home) else { return false }
        return bytes.withBytes { bytes in
            (bytes.integer(at: deviceOffset, as: UInt64.self), bytes.integer(at: inodeOffset, as: UInt64.self))
        } != (here.device, here.inode)
    }

    /// At a start: what a wipe left that was killed just before its end. Such a home is without a header already.
    static func removeLeftover(in home: HomeDirectory) {
        guard !home.exists(HeaderFile.name), home.exists(name), let receipt = WipeReceiptFile.read(in: home),
            receipt.isComplete, WipeKeyFile.stored(in: home, vault: receipt.vault) != nil
        else { return }
        home.remove(name)
        try? home.synchronize()
    }

    /// The stored key, where there is one that can be read.
    static func stored(in home: HomeDirectory, vault: VaultID) -> WipeKey? {
        do throws(VaultError) { return try load(in: home, vault: vault) } catch { return nil }
    }

    /// Whose hardware the stored key stands for.
    static func owner(in home: HomeDirectory, vault: VaultID) -> HardwareOwner? {
        guard let key = stored(in: home, vault: vault) else { return nil }
        return key.owner
    }

    private static func read(in home: HomeDirectory) throws(VaultError) -> SecretBytes? {
        guard let file = try home.openFile(name, O_RDONLY) else { return nil }
        var bytes = try secretMemory { () throws(SecretMemoryError) in try SecretBytes(zeroed: size) }
        let count = try bytes.withMutableBytes { bytes throws(VaultError) in try file.read(into: &bytes, at: 0) }
        let stored = try file.status().size
        guard count == size, stored == UInt64(size) else { return nil }
        let isWhole = bytes.withBytes { bytes in
            starts(bytes, with: magic, at: 0) && bytes.integer(at: 8, as: UInt32.self) == version
                && starts(bytes, with: HeaderFile.checksum(bytes.extracting(0..<checksumOffset)), at: checksumOffset)
        }
        guard isWhole else { return nil }
        return bytes
    }

    private static func place(of home: HomeDirectory) throws(VaultError) -> (device: UInt64, inode: UInt64) {
        var status = stat()
        try system("examining \(home.path)") { unsafe fstat(home.descriptor, &status) }
        return (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
    }

    private static func encoded(
        _ key: borrowing WipeKey, _ place: (device: UInt64, inode: UInt64)
    ) throws(VaultError) -> SecretBytes {
        var bytes = try secretMemory { () throws(SecretMemoryError) in try SecretBytes(zeroed: size) }
        let vault = key.owner.vault.bytes
        try key.withSecret { secret throws(VaultError) in
            bytes.withMutableBytes { bytes in
                store(magic, in: &bytes, at: 0)
                bytes.store(version, at: 8)
                store(vault, in: &bytes, at: vaultOffset)
                secret.withBytes { secret in
                    for index in 0..<secret.byteCount {
                        bytes.store(secret.integer(at: index, as: UInt8.self) ?? 0, at: secretOffset + index)
                    }
                }
                bytes.store(place.device, at: deviceOffset)
                bytes.store(place.inode, at: inodeOffset)
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
