internal import Cryptography
package import SecretMemory
internal import VaultFormat

/// Databases of KeePass and KeePassXC in the formats KDBX 3 and 4.
package enum KDBXImport {
    /// No header says whether a hardware key answers a challenge beside the password.
    static let wrongKey =
        "the password or the key file is not the database's, a hardware key (such as a YubiKey) is required too, or the "
        + "file was changed"

    /// - Parameters:
    ///   - password: Nil for a database that has only a key file.
    ///   - keyFile: What is in the key file; nil without one.
    /// - Throws: ``ImportError``; `wrongPassword` also for a file that was changed, which cannot be told apart.
    package static func read(
        _ bytes: borrowing SecretBytes, password: borrowing SecretBytes?, keyFile: borrowing SecretBytes?,
        _ options: ImportOptions = ImportOptions()
    ) throws(ImportError) -> Imported {
        let hasPassword =
            switch password {
            case .none: false;
            case .some: true
            }
        let hasFile =
            switch keyFile {
            case .none: false;
            case .some: true
            }
        guard hasPassword || hasFile else { throw ImportError(.passwordNeeded, "", "the database is encrypted") }
        return try bytes.withBytes { bytes throws(ImportError) in
            guard bytes.byteCount <= ImportLimits.file else { throw ImportError(.tooLarge, "", "the file is too long") }
            let header = try KDBXHeader(bytes)
            if let third = header.third {
                let keys = try KDBXKeys.derive(header, password: password, keyFile: keyFile)
                return try read(third, bytes, header, keys, options)
            }
            try checkDigest(bytes, header)
            let keys = try KDBXKeys.derive(header, password: password, keyFile: keyFile)
            try checkTag(bytes, header, keys)
            let content = try content(bytes, header, keys)
            return try inner(content, options)
        }
    }

    private static func checkDigest(_ bytes: RawSpan, _ header: KDBXHeader) throws(ImportError) {
        guard bytes.byteCount - header.size >= 64 else {
            throw .malformed("byte \(header.size)", "the file is cut off")
        }
        let digest = SHA256.hash(bytes.extracting(0..<header.size))
        let isSame = digest.withBytes { constantTimeEquals($0, bytes.extracting(header.size..<header.size + 32)) }
        guard isSame else { throw .malformed("byte \(header.size)", "the header does not fit its checksum") }
    }

    private static func checkTag(_ bytes: RawSpan, _ header: KDBXHeader, _ keys: borrowing KDBXKeys) throws(ImportError)
    {
        let key = try keys.tagKey(.max)
        let tag = bytes.extracting(header.size + 32..<header.size + 64)
        guard HMACSHA256.isValid(tag, for: bytes.extracting(0..<header.size), key: key) else {
            throw ImportError(
                .wrongPassword, "", KDBXImport.wrongKey)
        }
    }

    private static func content(
        _ bytes: RawSpan, _ header: KDBXHeader, _ keys: borrowing KDBXKeys
    ) throws(ImportError) -> SecretBufferBox {
        let plain = try decrypted(bytes, header, keys)
        return try plain.withBytes { plain throws(ImportError) in
            if header.isCompressed { return try GzipFile.expand(plain) }
            let box = SecretBufferBox(limit: ImportLimits.expanded)
            try box.append(plain)
            return box
        }
    }

    /// Blocks with a tag each, the last one empty.
    private static func decrypted(
        _ bytes: RawSpan, _ header: KDBXHeader, _ keys: borrowing KDBXKeys
    ) throws(ImportError) -> SecretBytes {
        var reader = ByteReader(header.size + 64)
        let sealed = SecretBufferBox(limit: ImportLimits.file)
        var block: UInt64 = 0
        while true {
            let tag = try reader.skip(32, bytes)
            let start = reader.position
            let size = Int(try reader.word(bytes))
            let data = try reader.skip(size, bytes)
            var message = SecretBuffer()
            try memory { () throws(SecretMemoryError) in
                for shift in 0..<8 { try message.append(UInt8(truncatingIfNeeded: block >> (8 * UInt64(shift)))) }
                try message.append(bytes.extracting(start..<data.upperBound))
            }
            let key = try keys.tagKey(block)
            let isGenuine = message.withBytes { HMACSHA256.isValid(bytes.extracting(tag), for: $0, key: key) }
            guard isGenuine else { throw .malformed("byte \(start)", "block \(block) was changed") }
            if size == 0 { break }
            try sealed.append(bytes.extracting(data))
            block += 1
        }
        guard reader.position == bytes.byteCount else {
            throw .malformed("byte \(reader.position)", "something follows the last block")
        }
        return try sealed.withBytes { sealed throws(ImportError) in
            do throws(CryptographyError) { return try decrypt(sealed, header, keys) } catch {
                throw ImportError.malformed("", "the encrypted content is damaged")
            }
        }
    }

    static func decrypt(
        _ sealed: RawSpan, _ header: KDBXHeader, _ keys: borrowing KDBXKeys
    ) throws(CryptographyError) -> SecretBytes {
        switch header.cipher {
        case .aes256:
            try unsafe BlockCipher.decryptCBC(sealed, key: keys.encryption, vector: header.vector.span.bytes)
        case .chacha20:
            try unsafe StreamCipher.chacha20(sealed, key: keys.encryption, nonce: header.vector.span.bytes)
        }
    }

    /// The inner header, then XML whose protected values are encrypted once more. Attachments stay where they are in
    /// the content.
    static func inner(
        _ content: SecretBufferBox, _ options: ImportOptions = ImportOptions()
    ) throws(ImportError) -> Imported {
        var files: KeePassTree.Files = [:]
        let root = try content.withBytes { bytes throws(ImportError) in
            var reader = ByteReader(0)
            var cipher: UInt8?
            var key: SecretBytes?
            while true {
                let id = try reader.read(1, bytes)[0]
                let size = Int(try reader.word(bytes))
                let range = try reader.skip(size, bytes)
                if id == 0 { break }
                switch id {
                case 1 where size == 4: cipher = bytes[range.lowerBound]
                case 2 where (1...256).contains(size):
                    let outer = BulkMemory.begin(isAllowed: false)
                    defer { BulkMemory.end(outer) }
                    key = try memory(SecretBytes(copying: bytes.extracting(range)))
                case 3 where size > 0:
                    guard files.count < 10_000 else {
                        throw ImportError(.tooLarge, "inner header", "there are too many files")
                    }
                    files[files.count] = .content(
                        KeePassTree.File(content, range.lowerBound + 1..<range.upperBound))
                default: throw .malformed("byte \(range.lowerBound)", "a field of the inner header is not valid")
                }
            }
            let root = try XMLReader.parse(bytes.extracting(reader.position..<bytes.byteCount))
            switch key {
            case .none: throw .malformed("inner header", "the key of the inner stream is missing")
            case .some(let key): try KeePassTree.reveal(root, try InnerStream.of(cipher, key))
            }
            return root
        }
        return try KeePassTree.read(root, files: files, options)
    }
}

/// What protected values are encrypted with inside of the encrypted content.
struct InnerStream: ~Copyable {
    private let key: SecretBytes
    private let nonce: [UInt8]
    private let isSalsa: Bool

    static func of(_ cipher: UInt8?, _ key: borrowing SecretBytes) throws(ImportError) -> InnerStream {
        let outer = BulkMemory.begin(isAllowed: false)
        defer { BulkMemory.end(outer) }
        switch cipher {
        case 2:
            let digest = key.withBytes { SHA256.hash($0) }
            let half = try digest.withBytes { digest throws(ImportError) in
                try memory { () throws(SecretMemoryError) in try SecretBytes(copying: digest) }
            }
            return InnerStream(key: half, nonce: [0xE8, 0x30, 0x09, 0x4B, 0x97, 0x20, 0x5D, 0x2A], isSalsa: true)
        case 3:
            let digest = try key.withBytes { key throws(ImportError) in
                try cryptography { () throws(CryptographyError) in try SHA512.hash(key) }
            }
            let nonce = digest.withBytes { digest in (32..<44).map { digest[$0] } }
            let half = try memory { () throws(SecretMemoryError) in try digest.copy(0..<32) }
            return InnerStream(key: half, nonce: nonce, isSalsa: false)
        default: throw ImportError(.unsupported, "inner header", "an inner stream that is not known")
        }
    }

    /// Its first bytes.
    func bytes(_ count: Int) throws(ImportError) -> SecretBytes {
        if isSalsa {
            return try cryptography { () throws(CryptographyError) in
                try unsafe Salsa20.stream(count, key: key, nonce: nonce.span.bytes)
            }
        }
        let zeros = try memory { () throws(SecretMemoryError) in try SecretBytes(zeroed: count) }
        return try zeros.withBytes { zeros throws(ImportError) in
            try cryptography { () throws(CryptographyError) in
                try unsafe StreamCipher.chacha20(zeros, key: key, nonce: nonce.span.bytes)
            }
        }
    }
}
