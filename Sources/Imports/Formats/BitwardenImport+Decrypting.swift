internal import Cryptography
internal import SecretMemory

extension BitwardenImport {
    /// The plain export inside of one that is protected with a password: AES-256-CBC, then HMAC-SHA-256, under keys
    /// that the password gives through PBKDF2 or Argon2id.
    static func decrypt(
        _ document: borrowing JSONDocument, _ password: borrowing SecretBytes
    ) throws(ImportError) -> SecretBytes {
        let keys = try keys(document, password)
        let check = "encKeyValidation_DO_NOT_EDIT"
        guard
            let _ = try document.withString(
                document.root[check], { text throws(ImportError) in try open(text, keys, check) }),
            let content = try document.withString(
                document.root["data"], { text throws(ImportError) in try open(text, keys, "data") })
        else { throw ImportError(.malformed, "", "the encrypted data is missing") }
        return content
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
        _ text: RawSpan, _ keys: borrowing Keys, _ place: String
    ) throws(ImportError) -> SecretBytes {
        let parts = try parts(text, place)
        return try parts.message.withBytes { message throws(ImportError) in
            let isGenuine = parts.tag.withBytes { HMACSHA256.isValid($0, for: message, key: keys.authentication) }
            guard isGenuine else {
                throw ImportError(.wrongPassword, "", "the password is not the file's, or the file was changed")
            }
            do throws(CryptographyError) {
                return try BlockCipher.decryptCBC(
                    message.extracting(vectorSize..<message.byteCount), key: keys.encryption,
                    vector: message.extracting(0..<vectorSize))
            } catch { throw ImportError.malformed(place, "the encrypted data is damaged") }
        }
    }

    private static let vectorSize = 16

    private struct Parts: ~Copyable {
        /// Initial vector and ciphertext, which the tag is over.
        let message: SecretBuffer
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
        var message = SecretBuffer(limit: ImportLimits.file)
        try memory { () throws(SecretMemoryError) in try message.reserveCapacity(text.byteCount / 4 * 3) }
        var sizes: [Int] = []
        for range in [2..<bars[0], bars[0] + 1..<bars[1]] {
            let isValid = try memory { () throws(SecretMemoryError) in
                try Base64.decode(text.extracting(range), into: &message)
            }
            guard isValid else { throw .malformed(place, "this is not base 64") }
            sizes.append(message.count)
        }
        guard let tag = try SecretBytes.decoded(base64: text.extracting(bars[1] + 1..<text.byteCount)) else {
            throw .malformed(place, "this is not base 64")
        }
        guard sizes[0] == vectorSize, tag.count == 32 else { throw .malformed(place, "a part has the wrong size") }
        return Parts(message: message, tag: tag)
    }
}
