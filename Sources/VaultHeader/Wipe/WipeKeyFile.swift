package import KeyStores
internal import SecretMemory
package import VaultFormat
package import VaultStorage
internal import SystemCalls

/// The home's wipe key on the disk. It is needed before the vault is opened, so it is not encrypted: anyone who reads
/// the home has it, and anyone who has it and can write here could destroy the home anyway. No backup copies it.
package enum WipeKeyFile {
    package static let name = "wipe.key"
    package static let names = file.names

    private static let file = SecretFile(name: name, magic: Array("HFWIPKEY".utf8), size: 128)
    private static let secretOffset = 32
    private static let deviceOffset = 64
    private static let inodeOffset = 72

    /// Makes a key and stores it durably in place of any other.
    package static func make(in home: HomeDirectory, vault: VaultID) throws(VaultError) -> WipeKey {
        let key = try WipeKey.generate(for: vault)
        try write(key, in: home)
        return key
    }

    /// Stores a key durably in place of any other: at no moment is there half of one, or none where there was one.
    package static func write(_ key: borrowing WipeKey, in home: HomeDirectory) throws(VaultError) {
        let place = try place(of: home)
        try key.withSecret { secret throws(VaultError) in
            try file.write(for: key.owner.vault, in: home) { bytes in
                secret.withBytes { SecretFile.store($0, in: &bytes, at: secretOffset) }
                bytes.store(place.device, at: deviceOffset)
                bytes.store(place.inode, at: inodeOffset)
            }
        }
    }

    /// The stored key, or another one in its place; where it cannot be stored one that is in memory only.
    package static func loadOrMake(in home: HomeDirectory, vault: VaultID) throws(VaultError) -> WipeKey {
        if let key = WipeKeyFile.stored(in: home, vault: vault) { return key }
        let key = try WipeKey.generate(for: vault)
        try? write(key, in: home)
        return key
    }

    /// The stored key; nil when there is none for this vault, or what is there is not what was written.
    /// - Throws: What reading can throw.
    package static func load(
        in home: HomeDirectory, vault: VaultID, evenIfLinked: Bool = false
    ) throws(VaultError) -> WipeKey? {
        guard let bytes = try file.load(for: vault, in: home, evenIfLinked: evenIfLinked) else { return nil }
        let secret = try bytes.withBytes { bytes throws(VaultError) in
            try secretMemory { () throws(SecretMemoryError) in
                try SecretBytes(copying: bytes.extracting(secretOffset..<secretOffset + WipeKey.size))
            }
        }
        return try WipeKey(secret, of: vault)
    }

    /// Whether the key was made in another folder than this one, which is a copy or was moved. It is unauthenticated:
    /// it only affects the text of a warning.
    package static func isFromElsewhere(_ home: HomeDirectory) -> Bool {
        guard let bytes = (try? file.load(for: nil, in: home)) ?? nil, let here = try? place(of: home) else {
            return false
        }
        return bytes.withBytes { bytes in
            (bytes.integer(at: deviceOffset, as: UInt64.self), bytes.integer(at: inodeOffset, as: UInt64.self))
        } != (here.device, here.inode)
    }

    /// At a start: what a wipe left that was killed just before its end. Such a home is without a header already.
    package static func removeLeftover(in home: HomeDirectory) {
        guard !home.exists(HeaderFile.name), home.exists(name), let receipt = WipeReceiptFile.read(in: home),
            receipt.isComplete, WipeKeyFile.stored(in: home, vault: receipt.vault) != nil
        else { return }
        for name in names { home.remove(name) }
        try? home.synchronize()
    }

    /// The stored key, where there is one that can be read.
    /// - Parameter evenIfLinked: Whether a file that has a second name is read too: to know the mark of a wipe, which a
    ///   program that makes such names must not hold up.
    package static func stored(in home: HomeDirectory, vault: VaultID, evenIfLinked: Bool = false) -> WipeKey? {
        do throws(VaultError) {
            return try load(in: home, vault: vault, evenIfLinked: evenIfLinked)
        } catch { return nil }
    }

    /// Whose hardware the stored key stands for.
    package static func owner(in home: HomeDirectory, vault: VaultID) -> HardwareOwner? {
        guard let key = stored(in: home, vault: vault) else { return nil }
        return key.owner
    }

    private static func place(of home: HomeDirectory) throws(VaultError) -> (device: UInt64, inode: UInt64) {
        var status = stat()
        try system("examining \(home.path)") { unsafe fstat(home.descriptor, &status) }
        return (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
    }
}
