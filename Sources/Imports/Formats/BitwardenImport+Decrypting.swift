internal import Cryptography
internal import SecretMemory

extension BitwardenImport {
    /// The plain export inside of one that is protected with a password: AES-256-CBC, then HMAC-SHA-256, under keys
    /// that the password gives through PBKDF2 or Argon2id.
    static func decrypt(
        _ document: borrowing JSONDocument, _ password: borrowing SecretBytes
    ) throws(ImportError) -> SecretBytes {
        let keys = try keys(document, password)
        guard let check = try document.string(document.root["encKeyValidation_DO_NOT_EDIT"]),
            let data = try document.string(document.root["data"])
        else { throw ImportError(.malformed, "", "the encrypted data is missing") }
        _ = try open(check, keys, "encKeyValidation_DO_NOT_EDIT")
        return try open(data, keys, "data")
    }

    private struct Keys: ~Copyable {
        let encryption: SecretBytes
        let authentication: SecretBytes
    }

    private static func keys(
        _ document: borrowing JSONDocument, _ password: borrowing SecretBytes
    ) throws(ImportError) -> Keys {
        let outer = BulkMemory.begin(isAllowed: false)
        defer { BulkMemory.end(outer) }
        let root = document.root
        guard let salt = try document.string(root["salt"]), (8...1024).contains(salt.count),
            let rounds = document.integer(root["kdfIterations"])
        else { throw ImportError(.malformed, "", "the settings of the key derivation are missing") }
        let master: SecretBytes
        switch document.integer(root["kdfType"]) {
        case 0:
            guard rounds > 0, ImportLimits.allowsDerivation(passes: UInt64(rounds), of: ImportLimits.pbkdf2Round) else {
                throw ImportError(.tooLarge, "kdfIterations", "the key derivation asks for too much")
            }
            master = try salt.withBytes { salt throws(ImportError) in
                try cryptography(PBKDF2SHA256.derive(password, salt: salt, rounds: rounds, count: 32))
            }
        case 1:
            let memory = document.integer(root["kdfMemory"]) ?? 64
            let lanes = document.integer(root["kdfParallelism"]) ?? 4
            guard (1...100).contains(rounds), (1...2048).contains(memory), (1...64).contains(lanes),
                ImportLimits.allowsDerivation(passes: UInt64(rounds), of: UInt64(memory) << 20)
            else {
                throw ImportError(.tooLarge, "kdfMemory", "the key derivation asks for too much")
            }
            let digest = salt.withBytes { SHA256.hash($0) }
            master = try digest.withBytes { digest throws(ImportError) in
                try cryptography(
                    Argon2id.deriveWithLongSalt(
                        password, salt: digest, passes: rounds, memoryKiB: memory * 1024, lanes: lanes, count: 32))
            }
        default: throw ImportError(.unsupported, "kdfType", "a key derivation that is not known")
        }
        return Keys(encryption: try expand(master, 0x65_6E_63), authentication: try expand(master, 0x6D_61_63))
    }

    /// HKDF's expansion (RFC 5869, section 2.3) of one block: `enc` or `mac`, then 1.
    private static func expand(_ master: borrowing SecretBytes, _ word: UInt32) throws(ImportError) -> SecretBytes {
        let info = [UInt8(word >> 16), UInt8(word >> 8 & 0xFF), UInt8(word & 0xFF), 1]
        let digest = try cryptography(unsafe HMACSHA256.authenticate(info.span.bytes, key: master))
        return try digest.withBytes { digest throws(ImportError) in
            try memory(SecretBytes(copying: digest))
        }
    }

    /// `2.`, then initial vector, ciphertext and tag in base 64 with bars between.
    private static func open(
        _ text: borrowing SecretBytes, _ keys: borrowing Keys, _ place: String
    ) throws(ImportError) -> SecretBytes {
        let parts: Parts = try text.withBytes { text throws(ImportError) -> Parts in
            try BitwardenImport.parts(text, place)
        }
        let tag = try memory { () throws(SecretMemoryError) in
            var message = SecretBuffer()
            try parts.vector.withBytes { bytes throws(SecretMemoryError) in try message.append(bytes) }
            try parts.content.withBytes { bytes throws(SecretMemoryError) in try message.append(bytes) }
            return try message.bytes()
        }
        let isGenuine = tag.withBytes { message in
            parts.tag.withBytes { HMACSHA256.isValid($0, for: message, key: keys.authentication) }
        }
        guard isGenuine else {
            throw ImportError(.wrongPassword, "", "the password is not the file's, or the file was changed")
        }
        return try parts.content.withBytes { content throws(ImportError) in
            try parts.vector.withBytes { vector throws(ImportError) in
                do throws(CryptographyError) {
                    return try BlockCipher.decryptCBC(content, key: keys.encryption, vector: vector)
                } catch { throw ImportError.malformed(place, "the encrypted data is damaged") }
            }
        }
    }

    private struct Parts: ~Copyable {
        let vector: SecretBytes
        let content: SecretBytes
        let tag: SecretBytes
    }

    private static func parts(_ text: RawSpan, _ place: String) throws(ImportError) -> Parts {
        var bars: [Int] = []
        // One more than there may be: a text of nothing but bars would become eight times as much.
        for offset in 0..<text.byteCount where text[offset] == UInt8(ascii: "|") && bars.count <= 2 {
            bars.append(offset)
        }
        guard text.byteCount > 2, text[0] == UInt8(ascii: "2"), text[1] == UInt8(ascii: "."), bars.count == 2 else {
            throw ImportError(.unsupported, place, "an encryption that is not known")
        }
        func part(_ range: Range<Int>) throws(ImportError) -> SecretBytes {
            let bytes = try SecretBytes.decoded(base64: text.extracting(range))
            guard let bytes else { throw .malformed(place, "this is not base 64") }
            return bytes
        }
        let vector = try part(2..<bars[0])
        let content = try part(bars[0] + 1..<bars[1])
        let tag = try part(bars[1] + 1..<text.byteCount)
        guard vector.count == 16, tag.count == 32 else { throw .malformed(place, "a part has the wrong size") }
        return Parts(vector: vector, content: content, tag: tag)
    }
}
