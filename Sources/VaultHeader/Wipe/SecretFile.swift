internal import SecretMemory
internal import VaultFormat
internal import VaultStorage
internal import SystemCalls

/// A small file of a home with a secret in clear, which only its owner may open: a magic, a version, the vault's id,
/// fields, and a checksum over all before it. It is whole and on the disk before it gets its name.
struct SecretFile {
    let name: String
    let magic: [UInt8]
    /// Bytes, the checksum included.
    let size: Int

    private static let version: UInt32 = 1
    private static let versionOffset = 8
    private static let vaultOffset = 12
    private static let checksumSize = 32
    /// Where the fields begin.
    static let fieldsOffset = 28

    /// Every name that it can have.
    var names: [String] { [name, HomeDirectory.part(of: name)] }

    private var checksumOffset: Int { size - SecretFile.checksumSize }

    /// Stores it durably, in place of any other.
    /// - Parameter fill: Writes the fields, at their offsets in the file.
    func write(
        for vault: VaultID, in home: HomeDirectory, _ fill: (inout MutableRawSpan) -> Void
    ) throws(VaultError) {
        var bytes = try secretMemory(SecretBytes(zeroed: size))
        bytes.withMutableBytes { bytes in
            SecretFile.store(magic, in: &bytes, at: 0)
            bytes.store(SecretFile.version, at: SecretFile.versionOffset)
            SecretFile.store(vault.bytes, in: &bytes, at: SecretFile.vaultOffset)
            fill(&bytes)
        }
        let checksum = bytes.withBytes { HeaderFile.checksum($0.extracting(0..<checksumOffset)) }
        bytes.withMutableBytes { SecretFile.store(checksum, in: &$0, at: checksumOffset) }
        try home.publish(name) { file throws(VaultError) in
            try bytes.withBytes { bytes throws(VaultError) in try file.write(bytes, at: 0) }
        }
    }

    /// What is stored.
    /// - Parameters:
    ///   - vault: Whose it must be; nil for anyone's.
    ///   - evenIfLinked: Whether a file that has a second name is read too.
    /// - Returns: Nil when there is none, it is another vault's, or it is not what was written.
    /// - Throws: What reading can throw.
    func load(
        for vault: VaultID?, in home: HomeDirectory, evenIfLinked: Bool = false
    ) throws(VaultError) -> SecretBytes? {
        guard let file = try home.openFile(name, O_RDONLY, evenIfLinked: evenIfLinked),
            try file.status().size == UInt64(size)
        else { return nil }
        var bytes = try secretMemory(SecretBytes(zeroed: size))
        let count = try bytes.withMutableBytes { bytes throws(VaultError) in try file.read(into: &bytes, at: 0) }
        let isWhole = bytes.withBytes { bytes in
            count == size && SecretFile.starts(bytes, with: magic, at: 0)
                && bytes.integer(at: SecretFile.versionOffset, as: UInt32.self) == SecretFile.version
                && vault.map { SecretFile.starts(bytes, with: $0.bytes, at: SecretFile.vaultOffset) } ?? true
                && SecretFile.starts(
                    bytes, with: HeaderFile.checksum(bytes.extracting(0..<checksumOffset)), at: checksumOffset)
        }
        guard isWhole else { return nil }
        return bytes
    }

    /// Overwrites and removes it; succeeds if there is none.
    func destroy(in home: HomeDirectory) throws(VaultError) {
        for name in names { try home.clear(name) }
    }

    /// Copies a secret into its place among the fields.
    static func store(_ secret: RawSpan, in bytes: inout MutableRawSpan, at offset: Int) {
        bytes.store(copying: secret, at: offset)
    }

    private static func store(_ part: [UInt8], in bytes: inout MutableRawSpan, at offset: Int) {
        for (index, byte) in part.enumerated() { bytes.store(byte, at: offset + index) }
    }

    /// For parts that are not secret.
    private static func starts(_ bytes: RawSpan, with part: [UInt8], at offset: Int) -> Bool {
        part.indices.allSatisfy { bytes.integer(at: offset + $0, as: UInt8.self) == part[$0] }
    }
}
