internal import Cryptography
internal import SecretMemory
internal import VaultFormat

/// The keys of a KDBX 4 database.
struct KDBXKeys: ~Copyable {
    let encryption: SecretBytes
    /// What the keys of the tags are made of.
    let authentication: SecretBytes

    /// - Parameters:
    ///   - password: Nil for a database that has only a key file.
    ///   - keyFile: What is in the key file; nil without one.
    static func derive(
        _ header: KDBXHeader, password: borrowing SecretBytes?, keyFile: borrowing SecretBytes?
    ) throws(ImportError) -> KDBXKeys {
        let outer = BulkMemory.begin(isAllowed: false)
        defer { BulkMemory.end(outer) }
        var parts = SecretBuffer()
        switch password {
        case .none: break
        case .some(let password):
            try password.withBytes { password throws(ImportError) in try append(SHA256.hash(password), to: &parts) }
        }
        switch keyFile {
        case .none: break
        case .some(let file): try append(try KeyFile.key(file), to: &parts)
        }
        let composite = try hashed(parts)
        let transformed = try transform(composite, header.derivation)
        var material = SecretBuffer()
        try memory { () throws(SecretMemoryError) in
            try unsafe material.append(header.seed.span.bytes)
            try transformed.withBytes { bytes throws(SecretMemoryError) in try material.append(bytes) }
        }
        let encryption = try hashed(material)
        try memory(material.append(1))
        let authentication = try material.withBytes { bytes throws(ImportError) in
            try cryptography(SHA512.hash(bytes))
        }
        return KDBXKeys(encryption: encryption, authentication: authentication)
    }

    private static func append(_ digest: Digest, to buffer: inout SecretBuffer) throws(ImportError) {
        try digest.withBytes { digest throws(ImportError) in
            do throws(SecretMemoryError) { try buffer.append(digest) } catch { throw ImportError(error) }
        }
    }

    private static func append(_ key: borrowing SecretBytes, to buffer: inout SecretBuffer) throws(ImportError) {
        try key.withBytes { key throws(ImportError) in
            do throws(SecretMemoryError) { try buffer.append(key) } catch { throw ImportError(error) }
        }
    }

    private static func hashed(_ buffer: borrowing SecretBuffer) throws(ImportError) -> SecretBytes {
        let digest = buffer.withBytes { SHA256.hash($0) }
        return try digest.withBytes { digest throws(ImportError) in
            do throws(SecretMemoryError) { return try SecretBytes(copying: digest) } catch { throw ImportError(error) }
        }
    }

    private static func transform(
        _ composite: borrowing SecretBytes, _ derivation: KDBXHeader.Derivation
    ) throws(ImportError) -> SecretBytes {
        do throws(CryptographyError) {
            switch derivation {
            case .argon2(let isDataDependent, let passes, let memoryKiB, let lanes, let salt):
                return try unsafe Argon2id.deriveWithLongSalt(
                    composite, salt: salt.span.bytes, passes: passes, memoryKiB: memoryKiB, lanes: lanes, count: 32,
                    isDataDependent: isDataDependent)
            case .aes(let rounds, let seed):
                var seed = seed
                let key = try SecretBytes.wiping(&seed)
                let blocks = try BlockCipher.transform(composite, key: key, rounds: rounds)
                let digest = blocks.withBytes { SHA256.hash($0) }
                return try digest.withBytes { digest throws(CryptographyError) in
                    do throws(SecretMemoryError) { return try SecretBytes(copying: digest) } catch {
                        throw .memory(error)
                    }
                }
            }
        } catch { throw ImportError(error, "header") }
    }

    /// The tag's key of a block; of the header with the largest number.
    func tagKey(_ block: UInt64) throws(ImportError) -> SecretBytes {
        let outer = BulkMemory.begin(isAllowed: false)
        defer { BulkMemory.end(outer) }
        var material = SecretBuffer()
        try memory { () throws(SecretMemoryError) in
            for shift in 0..<8 { try material.append(UInt8(truncatingIfNeeded: block >> (8 * UInt64(shift)))) }
            try authentication.withBytes { bytes throws(SecretMemoryError) in try material.append(bytes) }
        }
        return try material.withBytes { bytes throws(ImportError) in
            try cryptography(SHA512.hash(bytes))
        }
    }
}

extension SecretBytes {
    fileprivate static func wiping(_ bytes: inout [UInt8]) throws(CryptographyError) -> SecretBytes {
        do throws(SecretMemoryError) { return try SecretBytes(wiping: &bytes) } catch { throw .memory(error) }
    }
}

/// A key file: XML of version 1 or 2, 32 bytes, 64 hexadecimal digits, or any file, which is hashed.
enum KeyFile {
    static func key(_ file: borrowing SecretBytes) throws(ImportError) -> SecretBytes {
        try file.withBytes { bytes throws(ImportError) in
            if let key = try xml(bytes) { return key }
            if bytes.byteCount == 32 { return try copy(bytes) }
            if bytes.byteCount == 64, let key = try Hex.decode(bytes) { return key }
            return try SHA256.hash(bytes).withBytes { digest throws(ImportError) in try copy(digest) }
        }
    }

    private static func copy(_ bytes: RawSpan) throws(ImportError) -> SecretBytes {
        do throws(SecretMemoryError) { return try SecretBytes(copying: bytes) } catch { throw ImportError(error) }
    }

    /// Nil for a file that is no key file in XML.
    private static func xml(_ bytes: RawSpan) throws(ImportError) -> SecretBytes? {
        guard bytes.byteCount < 65_536, let root = try? XMLReader.parse(bytes), root.name == "KeyFile",
            let data = root["Key"]?["Data"], data.text != nil
        else { return nil }
        let version = root["Meta"]?["Version"]?.openText ?? ""
        var digits = SecretBuffer()
        data.text?.withBytes { text in
            for offset in 0..<text.byteCount where text[offset] > 0x20 { try? digits.append(text[offset]) }
        }
        if version.hasPrefix("1") {
            var key = SecretBuffer()
            let isValid = try digits.withBytes { digits throws(ImportError) in
                do throws(SecretMemoryError) { return try Base64.decode(digits, into: &key) } catch {
                    throw ImportError(error)
                }
            }
            guard isValid, key.count == 32 else { throw .malformed("key file", "the key is not 32 bytes in base 64") }
            return try memory(key.bytes())
        }
        guard version.hasPrefix("2") else { throw ImportError(.unsupported, "key file", "a version that is not known") }
        guard let key = try digits.withBytes({ digits throws(ImportError) in try Hex.decode(digits) }), key.count == 32
        else {
            throw .malformed("key file", "the key is not 64 hexadecimal digits")
        }
        let check = key.withBytes { SHA256.hash($0) }.withBytes { digest in
            (0..<4).map { String(Int(digest[$0]) + 256, radix: 16, uppercase: true).dropFirst() }.joined()
        }
        guard data.attributes["Hash"].map({ $0.uppercased() == check }) ?? true else {
            throw .malformed("key file", "the key does not fit its checksum")
        }
        return key
    }
}
