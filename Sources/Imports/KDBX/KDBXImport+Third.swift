internal import Cryptography
internal import SecretMemory
internal import VaultFormat

/// Databases in the format KDBX 3: without tags, but with checksums inside of the encryption.
extension KDBXImport {
    /// - Throws: ``ImportError``; `wrongPassword` where the content does not begin as its header says.
    static func read(
        _ third: KDBXHeader.Third, _ bytes: RawSpan, _ header: KDBXHeader, _ keys: borrowing KDBXKeys,
        _ options: ImportOptions
    ) throws(ImportError) -> Imported {
        let wrong = ImportError(.wrongPassword, "", wrongKey)
        let sealed = bytes.extracting(header.size..<bytes.byteCount)
        let plain: SecretBytes
        // Under a wrong key the padding is wrong most of the time.
        do throws(CryptographyError) { plain = try decrypt(sealed, header, keys) } catch { throw wrong }
        return try plain.withBytes { plain throws(ImportError) in
            guard plain.byteCount >= 32,
                unsafe constantTimeEquals(plain.extracting(0..<32), third.beginning.span.bytes)
            else { throw wrong }
            let content = try blocks(plain.extracting(32..<plain.byteCount))
            return try content.withBytes { content throws(ImportError) in
                guard header.isCompressed else { return try tree(content, third, bytes, header, options) }
                return try GzipFile.expand(content).withBytes { content throws(ImportError) in
                    try tree(content, third, bytes, header, options)
                }
            }
        }
    }

    /// Blocks with a number and a checksum each, the last one empty.
    private static func blocks(_ bytes: RawSpan) throws(ImportError) -> SecretBufferBox {
        var reader = ByteReader(0)
        let content = SecretBufferBox(limit: ImportLimits.file)
        var block: UInt32 = 0
        while true {
            guard try reader.word(bytes) == block else {
                throw .malformed("", "block \(block) is missing")
            }
            let digest = bytes.extracting(try reader.skip(32, bytes))
            let size = Int(try reader.word(bytes))
            let data = bytes.extracting(try reader.skip(size, bytes))
            if size == 0 {
                guard (0..<32).allSatisfy({ digest[$0] == 0 }) else {
                    throw .malformed("", "the last block was changed")
                }
                break
            }
            guard SHA256.hash(data).withBytes({ constantTimeEquals($0, digest) }) else {
                throw .malformed("", "block \(block) was changed")
            }
            try content.append(data)
            block += 1
        }
        guard reader.position == bytes.byteCount else { throw .malformed("", "something follows the last block") }
        return content
    }

    private static func tree(
        _ content: RawSpan, _ third: KDBXHeader.Third, _ bytes: RawSpan, _ header: KDBXHeader,
        _ options: ImportOptions
    ) throws(ImportError) -> Imported {
        let root = try XMLReader.parse(content)
        // Nothing else says that the header is the one that the database was written with. The earliest files have
        // none.
        if let noted = root["Meta"]?["HeaderHash"], noted.text != nil {
            let box = SecretBufferBox(limit: 64)
            let isValid = try noted.text?.withBytes { text throws(ImportError) in try box.appendBase64(text) } ?? false
            let digest = SHA256.hash(bytes.extracting(0..<header.size))
            guard isValid, box.withBytes({ box in digest.withBytes { constantTimeEquals($0, box) } }) else {
                throw .malformed("header", "the header does not fit its checksum")
            }
        }
        var known = third.key
        let key = try memory(SecretBytes(wiping: &known))
        try KeePassTree.reveal(root, try InnerStream.of(third.cipher, key))
        return try KeePassTree.read(root, files: [:], options)
    }
}
