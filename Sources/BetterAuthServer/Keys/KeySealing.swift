internal import Cryptography
package import SecretMemory

/// The form of a sealed file of keys: a mark, the length of the sealed object (2, big-endian), the object, a nonce
/// (12), and the contents of a plain file in AES-256-GCM with its tag, which authenticates everything in front of the
/// nonce.
///
/// The key is made for this one file and sealed in the object.
enum KeySealing {
    static let mark = Array("HOLDFAST SEALED KEYS 1\n".utf8)
    static let largestObject = 2048

    static func isSealed(_ file: [UInt8]) -> Bool { file.starts(with: mark) }

    /// - Throws: What `seal` throws, and ``CryptographyError``.
    static func seal(_ contents: borrowing SecretBytes, with seal: any KeySeal) throws -> [UInt8] {
        let key = try SecureRandom.secret(AES256GCM.keySize)
        let object = try seal.seal(key)
        guard object.count <= largestObject else { throw CryptographyError.invalidSize }
        let head = mark + [UInt8(object.count >> 8), UInt8(object.count & 0xFF)] + object
        let random = try SecureRandom.bytes(AES256GCM.nonceSize)
        guard let nonce = unsafe Nonce96(copying: random.span.bytes) else { throw CryptographyError.invalidSize }
        var box = [UInt8](repeating: 0, count: contents.count + AES256GCM.tagSize)
        var cipher = try AES256GCM(key: key)
        try contents.withBytes { contents in
            var span = box.mutableSpan
            var output = unsafe span.mutableBytes
            try unsafe cipher.seal(
                contents, RawSpan(), nonce: nonce, authenticating: head.span.bytes, into: &output)
        }
        return head + random + box
    }

    /// The contents; nil for what is no sealed file.
    /// - Throws: What `seal` throws, and ``CryptographyError/authenticationFailed`` for a file that was changed.
    static func open(_ file: [UInt8], with seal: any KeySeal) throws -> SecretBytes? {
        let start = mark.count + 2
        guard isSealed(file), file.count > start else { return nil }
        let end = start + (Int(file[mark.count]) << 8 | Int(file[mark.count + 1]))
        let boxStart = end + AES256GCM.nonceSize
        guard end - start <= largestObject, file.count >= boxStart + AES256GCM.tagSize else { return nil }
        let key = try seal.unseal(Array(file[start..<end]))
        var contents = try SecretBytes(zeroed: file.count - boxStart - AES256GCM.tagSize)
        var cipher = try AES256GCM(key: key)
        try contents.withMutableBytes { contents in
            let bytes = unsafe file.span.bytes
            try cipher.open(
                bytes.extracting(boxStart..<file.count), nonce: bytes.extracting(end..<boxStart),
                authenticating: bytes.extracting(0..<end), into: &contents)
        }
        return contents
    }
}

/// Binds the keys of a server to the machine that it runs on.
package protocol KeySeal: Sendable {
    /// Seals a key of 32 bytes.
    /// - Returns: What opens it again on this machine, at most 2,048 bytes that are no secret.
    func seal(_ key: borrowing SecretBytes) throws -> [UInt8]

    /// Gives the key back.
    func unseal(_ object: [UInt8]) throws -> SecretBytes
}

/// What a file of server keys may be.
package enum KeyProtection: Sendable {
    /// Readable by its owner, and by anyone with a copy of the disk.
    case file
    /// Sealed; a file that is not is refused.
    case sealed(any KeySeal)
    /// Sealed when it is written next; one that is not yet is read.
    case toBeSealed(any KeySeal)

    var seal: (any KeySeal)? {
        switch self {
        case .file: nil
        case .sealed(let seal), .toBeSealed(let seal): seal
        }
    }
}
