internal import Cryptography
internal import SecretMemory

/// The front of a KDBX 3 or 4 database, which says how the rest is encrypted.
struct KDBXHeader {
    enum Cipher {
        case aes256, chacha20

        var vectorSize: Int { self == .aes256 ? 16 : 12 }
    }

    enum Derivation {
        case aes(rounds: UInt64, seed: [UInt8])
        case argon2(isDataDependent: Bool, passes: Int, memoryKiB: Int, lanes: Int, salt: [UInt8])
    }

    /// What version 3 has here, and version 4 inside of the encrypted content.
    struct Third {
        /// What the decrypted content begins with.
        let beginning: [UInt8]
        /// Of protected values: known to everybody who has the file.
        let cipher: UInt8
        let key: [UInt8]
    }

    /// Nil in version 4.
    let third: Third?
    let cipher: Cipher
    let isCompressed: Bool
    let seed: [UInt8]
    let vector: [UInt8]
    let derivation: Derivation
    /// Bytes of all of it.
    let size: Int

    static let aesCipher = hex("31c1f2e6bf714350be5805216afc5aff")
    static let chachaCipher = hex("d6038a2b8b6f4cb5a524339a31dbb59a")
    static let aesDerivations = [hex("c9d9f39a628a4460bf740d08c18a4fea"), hex("7c02bb8279a74ac0927d114a00648238")]
    static let argon2d = hex("ef636ddf8c29444b91f7a9a403e30a0c")
    static let argon2id = hex("9e298b1956db4773b23dfc3ec6f0a1e6")

    /// Reads it; limits on the costs are checked here, before any of them is spent.
    /// - Throws: ``ImportError`` with the byte.
    init(_ bytes: RawSpan) throws(ImportError) {
        guard bytes.byteCount >= 12, bytes.word(0) == 0x9AA2_D903, bytes.word(4) == 0xB54B_FB67 else {
            throw ImportError(.malformed, "byte 0", "this is no database of KeePass")
        }
        let version = bytes.half(10)
        guard version == 4 || version == 3 else {
            throw ImportError(
                .unsupported, "byte 8",
                "a database of format \(version); KDBX 3 and 4 are read. Save it in one of them with a current KeePass or KeePassXC"
            )
        }
        var reader = ByteReader(12)
        var fields: [UInt8: [UInt8]] = [:]
        while true {
            let (id, data) = try reader.field(bytes, limit: 65_536, isShort: version == 3)
            if id == 0 { break }
            guard fields[id] == nil else {
                throw .malformed("byte \(reader.position)", "a field of the header is there twice")
            }
            fields[id] = data
        }
        size = reader.position
        switch fields[2] {
        case KDBXHeader.aesCipher: cipher = .aes256
        case KDBXHeader.chachaCipher: cipher = .chacha20
        case nil: throw .malformed("header", "the cipher is missing")
        default: throw ImportError(.unsupported, "header", "a cipher that is not known; AES and ChaCha20 are")
        }
        guard let compression = fields[3], compression.count == 4, compression[0] <= 1,
            compression[1...].allSatisfy({ $0 == 0 })
        else {
            throw ImportError(.unsupported, "header", "a compression that is not known")
        }
        isCompressed = compression[0] == 1
        guard let seed = fields[4], seed.count == 32, let vector = fields[7], vector.count == cipher.vectorSize else {
            throw .malformed("header", "the seed or the vector is missing or has the wrong size")
        }
        self.seed = seed
        self.vector = vector
        guard version == 4 else {
            (third, derivation) = try KDBXHeader.third(fields)
            return
        }
        third = nil
        guard let parameters = fields[11] else { throw .malformed("header", "the key derivation is missing") }
        derivation = try unsafe KDBXHeader.derivation(parameters.span.bytes)
    }

    /// Version 3 has each setting in a field of its own, and knows one derivation.
    private static func third(_ fields: [UInt8: [UInt8]]) throws(ImportError) -> (Third, Derivation) {
        guard let beginning = fields[9], beginning.count == 32, let key = fields[8], (1...256).contains(key.count),
            let cipher = fields[10], cipher.count == 4, cipher[1...].allSatisfy({ $0 == 0 }),
            let seed = fields[5], seed.count == 32, let rounds = fields[6], rounds.count == 8
        else { throw .malformed("header", "a setting is missing or has the wrong size") }
        return (
            Third(beginning: beginning, cipher: cipher[0], key: key),
            try aes(rounds: rounds.reversed().reduce(0) { $0 << 8 | UInt64($1) }, seed: seed)
        )
    }

    private static func aes(rounds: UInt64, seed: [UInt8]) throws(ImportError) -> Derivation {
        guard rounds > 0, ImportLimits.allowsDerivation(passes: rounds, of: ImportLimits.aesRound) else {
            throw ImportError(.tooLarge, "header", "the key derivation asks for too much")
        }
        return .aes(rounds: rounds, seed: seed)
    }

    private static func derivation(_ bytes: RawSpan) throws(ImportError) -> Derivation {
        let values = try dictionary(bytes)
        func number(_ key: String) -> UInt64? {
            guard let value = values[key], value.count == 4 || value.count == 8 else { return nil }
            return value.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard let kind = values["$UUID"] else { throw .malformed("header", "the key derivation has no name") }
        if aesDerivations.contains(kind) {
            guard let rounds = number("R"), let seed = values["S"], seed.count == 32 else {
                throw .malformed("header", "a setting of the key derivation is missing")
            }
            return try aes(rounds: rounds, seed: seed)
        }
        guard kind == argon2d || kind == argon2id else {
            throw ImportError(.unsupported, "header", "a key derivation that is not known")
        }
        guard let passes = number("I"), let memory = number("M"), let lanes = number("P"), let salt = values["S"] else {
            throw .malformed("header", "a setting of the key derivation is missing")
        }
        guard number("V") == 0x13, values["K"] == nil, values["A"] == nil else {
            throw ImportError(.unsupported, "header", "a variant of Argon2 that is not known")
        }
        guard (1...10_000).contains(passes), (8 << 10...2 << 30).contains(memory), (1...64).contains(lanes),
            (8...64).contains(salt.count), memory / 1024 >= 8 * lanes,
            ImportLimits.allowsDerivation(passes: passes, of: memory)
        else { throw ImportError(.tooLarge, "header", "the key derivation asks for too much, or for too little") }
        return .argon2(
            isDataDependent: kind == argon2d, passes: Int(passes), memoryKiB: Int(memory / 1024), lanes: Int(lanes),
            salt: salt)
    }

    /// KeePass' dictionary of settings.
    private static func dictionary(_ bytes: RawSpan) throws(ImportError) -> [String: [UInt8]] {
        guard bytes.byteCount >= 3, bytes[1] == 1 else {
            throw ImportError(.unsupported, "header", "a dictionary that is not known")
        }
        var reader = ByteReader(2)
        var values: [String: [UInt8]] = [:]
        while true {
            let type = try reader.read(1, bytes)[0]
            if type == 0 { return values }
            let key = try reader.counted(bytes, limit: 256)
            let value = try reader.counted(bytes, limit: 4096)
            guard values.updateValue(value, forKey: String(decoding: key, as: UTF8.self)) == nil, values.count <= 64
            else {
                throw .malformed("header", "a setting is there twice, or there are too many")
            }
        }
    }

    private static func hex(_ text: String) -> [UInt8] {
        let digits = text.utf8.map { Hex.value($0) ?? 0 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

/// Reads bytes of a file that are no secret, one part after the other.
struct ByteReader {
    private(set) var position: Int

    init(_ position: Int) { self.position = position }

    mutating func read(_ count: Int, _ bytes: RawSpan) throws(ImportError) -> [UInt8] {
        let range = try skip(count, bytes)
        return range.map { bytes[$0] }
    }

    /// - Returns: Where the bytes are.
    mutating func skip(_ count: Int, _ bytes: RawSpan) throws(ImportError) -> Range<Int> {
        guard count >= 0, bytes.byteCount - position >= count else {
            throw .malformed("byte \(position)", "the file is cut off")
        }
        defer { position += count }
        return position..<position + count
    }

    mutating func word(_ bytes: RawSpan) throws(ImportError) -> UInt32 { bytes.word(try skip(4, bytes).lowerBound) }

    /// A size of 32 bits, and as many bytes.
    mutating func counted(_ bytes: RawSpan, limit: Int) throws(ImportError) -> [UInt8] {
        let count = Int(try word(bytes))
        guard count <= limit else {
            throw ImportError(.tooLarge, "byte \(position)", "a part has more than \(limit) bytes")
        }
        return try read(count, bytes)
    }

    /// A number, and bytes behind their size, which has 16 bits where it is short.
    mutating func field(_ bytes: RawSpan, limit: Int, isShort: Bool) throws(ImportError) -> (UInt8, [UInt8]) {
        let id = try read(1, bytes)[0]
        guard isShort else { return (id, try counted(bytes, limit: limit)) }
        return (id, try read(Int(bytes.half(try skip(2, bytes).lowerBound)), bytes))
    }
}
