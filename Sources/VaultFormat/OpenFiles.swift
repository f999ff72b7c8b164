/// Names of the open compartment's files in a home.
package enum OpenFiles {
    /// The records; there while the compartment holds any.
    package static let database = "open.mdb"
    /// The key, in clear, and the compartment's lock; never removed once it is there.
    package static let key = "open.key"
    /// The vault's public key, for what may only be written while locked.
    package static let publicKey = "open.pub"
    /// Where a database goes that cannot be read, and its key.
    package static let damagedDatabase = "open.mdb.damaged"
    package static let damagedKey = "open.key.damaged"

    /// A database that is being begun, until it is whole.
    package static let newDatabase = ".open.mdb.part"
    /// A public key that is being written, likewise.
    package static let newPublicKey = ".open.pub.part"
    /// Every file that may hold records of it.
    package static let ofRecords = [
        database, database + "-lock", damagedDatabase, newDatabase, newDatabase + "-lock",
    ]

    /// What a backup holds of it.
    package static let copied = [database, key, publicKey]
    /// Everything that may lie in a home because of it.
    package static let all = ofRecords + [key, publicKey, newPublicKey, damagedKey]
}

/// The open compartment's key file: 128 bytes, written in place in one piece.
///
/// Layout: magic `HFOPENKY`, version (32 bit), vault id (16), state (1 byte: 0 no key, 1 a key), three zero bytes, key
/// (32), zeros, BLAKE3 (32) over all before. Pure: the key's own bytes stay in the caller's locked memory.
package enum OpenKeyFile {
    package static let size = 128
    package static let keyRange = 32..<64
    private static let magic = Array("HFOPENKY".utf8)
    private static let version: UInt32 = 1
    private static let checksumOffset = size - 32

    /// Lays out everything but the key, which the caller has put at ``keyRange``; zeros stand there without one.
    package static func write(
        vault: VaultID, hasKey: Bool, into bytes: inout MutableRawSpan, checksum: (RawSpan) -> [UInt8]
    ) {
        for index in 0..<8 { bytes.store(magic[index], at: index) }
        bytes.store(version, at: 8)
        for index in 0..<16 { bytes.store(vault.bytes[index], at: 12 + index) }
        bytes.store(UInt32(hasKey ? 1 : 0), at: 28)
        let sum = checksum(bytes.bytes.extracting(0..<checksumOffset))
        for index in 0..<32 { bytes.store(sum[index], at: checksumOffset + index) }
    }

    /// Checks everything around the key.
    /// - Returns: Whether there is one.
    package static func check(
        _ bytes: RawSpan, vault: VaultID, checksum: (RawSpan) -> [UInt8]
    ) throws(FormatError) -> Bool {
        guard bytes.byteCount == size else { throw .wrongSize }
        for index in 0..<8 where bytes.integer(at: index, as: UInt8.self) != magic[index] { throw .wrongMagic }
        let sum = checksum(bytes.extracting(0..<checksumOffset))
        for index in 0..<32 where bytes.integer(at: checksumOffset + index, as: UInt8.self) != sum[index] {
            throw .checksumMismatch
        }
        guard let found = bytes.integer(at: 8, as: UInt32.self), found <= version else {
            throw .newerVersion(bytes.integer(at: 8, as: UInt32.self) ?? 0)
        }
        for index in 0..<16 where bytes.integer(at: 12 + index, as: UInt8.self) != vault.bytes[index] {
            throw .invalid(field: "vault id")
        }
        guard found == version, let state = bytes.integer(at: 28, as: UInt32.self), state <= 1 else {
            throw .invalid(field: "open key")
        }
        for index in keyRange.upperBound..<checksumOffset where bytes.integer(at: index, as: UInt8.self) != 0 {
            throw .invalid(field: "open key")
        }
        return state == 1
    }
}

/// The vault's public key beside the header: 160 bytes.
///
/// Layout: magic `HFOPENPK`, version (32 bit), vault id (16), epoch (32 bit), compressed point (33), three zero bytes,
/// tag (32), zeros, BLAKE3 (32) over all before. The tag is keyed from the private key's seed, so that an unlocked
/// vault knows its own file again without any work on the curve; a locked one can check the BLAKE3 only, as can a
/// forger.
package struct OpenPublicKeyFile: Sendable, Hashable {
    package static let size = 160
    package static let tagSize = 32
    private static let magic = Array("HFOPENPK".utf8)
    private static let version: UInt32 = 1
    private static let pointOffset = 32
    private static let tagOffset = 68

    package let vault: VaultID
    /// The keybag's epoch of the private key.
    package let epoch: UInt32
    /// 33 bytes; whether it is a point is for the cryptographic library to say.
    package let point: [UInt8]
    package let tag: [UInt8]

    package init(vault: VaultID, epoch: UInt32, point: [UInt8], tag: [UInt8]) {
        self.vault = vault
        self.epoch = epoch
        self.point = point
        self.tag = tag
    }

    /// What the tag is over.
    package static func tagged(vault: VaultID, epoch: UInt32, point: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(vault.bytes)
        writer.integer(epoch)
        writer.append(point)
        return writer.bytes
    }

    package func encoded(checksum: (RawSpan) -> [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(OpenPublicKeyFile.magic)
        writer.integer(OpenPublicKeyFile.version)
        writer.append(OpenPublicKeyFile.tagged(vault: vault, epoch: epoch, point: point))
        writer.pad(to: OpenPublicKeyFile.tagOffset)
        writer.append(tag)
        return writer.checked(to: OpenPublicKeyFile.size, checksum)
    }

    package init(parsing bytes: [UInt8], checksum: (RawSpan) -> [UInt8]) throws(FormatError) {
        guard bytes.count == OpenPublicKeyFile.size else { throw .wrongSize }
        guard bytes.starts(with: OpenPublicKeyFile.magic) else { throw .wrongMagic }
        var reader = try ByteReader(checking: bytes, from: OpenPublicKeyFile.magic.count, checksum)
        let version = try reader.integer(UInt32.self)
        guard version <= OpenPublicKeyFile.version else { throw .newerVersion(version) }
        guard version == OpenPublicKeyFile.version, let vault = VaultID(bytes: try reader.bytes(16)) else {
            throw .invalid(field: "public key")
        }
        self.vault = vault
        epoch = try reader.integer(UInt32.self)
        point = try reader.bytes(33)
        guard try reader.bytes(3) == [0, 0, 0] else { throw .invalid(field: "public key") }
        tag = try reader.bytes(OpenPublicKeyFile.tagSize)
        try reader.expectZeros("public key")
    }
}
