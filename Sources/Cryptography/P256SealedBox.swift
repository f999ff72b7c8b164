package import SecretMemory

/// Bytes sealed to a P-256 public key: the sender cannot read them again (ECIES with an ephemeral key, HKDF-SHA256 and
/// AES-256-GCM; after SEC 1, section 5.1).
///
/// A box is the ephemeral point (33, compressed), the ciphertext and the tag (16). It does not authenticate the sender:
/// anyone with the public key can make one.
package enum P256SealedBox {
    private static let boxOffset = P256PublicKey.compressedSize
    /// What sealing adds to a plaintext.
    package static let overhead = P256PublicKey.compressedSize + AES256GCM.tagSize
    private static let info: StaticString = "holdfast/1/sealed-box"

    /// Seals two parts as one plaintext under a key that is used once.
    /// - Parameters:
    ///   - first: Start of the plaintext.
    ///   - second: Rest of the plaintext; may be empty.
    ///   - recipient: Whose private key opens the box.
    ///   - context: Bound to the key, as its salt: a box opens in this context only.
    ///   - associated: Authenticated, not encrypted.
    /// - Throws: ``CryptographyError/memory(_:)``, ``CryptographyError/library(code:)``,
    ///   ``CryptographyError/invalidSize`` from 2 GiB on.
    package static func seal(
        _ first: RawSpan, _ second: RawSpan, to recipient: P256PublicKey, context: RawSpan,
        authenticating associated: RawSpan
    ) throws(CryptographyError) -> [UInt8] {
        try seal(first, second, to: recipient, context: context, authenticating: associated, with: .generate())
    }

    /// As ``seal(_:_:to:context:authenticating:)`` with an ephemeral key that is given, for examples in the format's
    /// document. One that is used twice gives both plaintexts away.
    package static func seal(
        _ first: RawSpan, _ second: RawSpan, to recipient: P256PublicKey, context: RawSpan,
        authenticating associated: RawSpan, with ephemeral: consuming P256PrivateKey
    ) throws(CryptographyError) -> [UInt8] {
        let shared = try ephemeral.sharedSecret(with: recipient)
        let point = ephemeral.publicKey.compressed
        let derived = try derive(shared, ephemeral: point, recipient: recipient.compressed, context)
        guard first.byteCount + second.byteCount <= 1 << 30 else { throw .invalidSize }
        var box = point + [UInt8](repeating: 0, count: first.byteCount + second.byteCount + AES256GCM.tagSize)
        var cipher = try cipher(derived)
        guard let nonce = derived.withBytes({ Nonce96(copying: $0.extracting(nonceRange)) }) else { throw .invalidSize }
        var span = box.mutableSpan
        var bytes = unsafe span.mutableBytes
        let end = bytes.byteCount
        try bytes.withPart(boxOffset..<end) { output throws(CryptographyError) in
            try cipher.seal(first, second, nonce: nonce, authenticating: associated, into: &output)
        }
        return box
    }

    /// Opens a box.
    /// - Throws: ``CryptographyError/invalidSize`` and ``CryptographyError/invalidPoint`` for what is no box,
    ///   ``CryptographyError/authenticationFailed`` for one that was changed, or sealed to another key or in another
    ///   context; ``CryptographyError/memory(_:)``, ``CryptographyError/library(code:)``.
    package static func open(
        _ box: RawSpan, with key: borrowing P256PrivateKey, context: RawSpan, authenticating associated: RawSpan
    ) throws(CryptographyError) -> SecretBytes {
        let ephemeral = try ephemeralPoint(of: box)
        let shared = try unsafe key.sharedSecret(with: P256PublicKey(compressed: ephemeral.span.bytes))
        return try open(
            box, shared: shared, recipient: key.publicKey.compressed, context: context, authenticating: associated)
    }

    /// The point, 33 bytes, that a box's sender made for it.
    /// - Throws: ``CryptographyError/invalidSize``.
    package static func ephemeralPoint(of box: RawSpan) throws(CryptographyError) -> [UInt8] {
        guard box.byteCount >= overhead, box.byteCount <= 1 << 30 else { throw .invalidSize }
        return unsafe box.extracting(0..<boxOffset).withUnsafeBytes { unsafe Array($0) }
    }

    /// As ``open(_:with:context:authenticating:)``, for a private key that does not leave its hardware.
    /// - Parameters:
    ///   - shared: What it and ``ephemeralPoint(of:)`` agree on: 32 bytes.
    ///   - recipient: Its public half, compressed.
    package static func open(
        _ box: RawSpan, shared: borrowing SecretBytes, recipient: [UInt8], context: RawSpan,
        authenticating associated: RawSpan
    ) throws(CryptographyError) -> SecretBytes {
        let ephemeral = try ephemeralPoint(of: box)
        let derived = try derive(shared, ephemeral: ephemeral, recipient: recipient, context)
        var plaintext = try SecretBytes.zeroed(box.byteCount - overhead, lifetime: .transient)
        var cipher = try cipher(derived)
        try derived.withBytes { derived throws(CryptographyError) in
            try plaintext.withMutableBytes { plaintext throws(CryptographyError) in
                try cipher.open(
                    box.extracting(boxOffset..<box.byteCount), nonce: derived.extracting(nonceRange),
                    authenticating: associated, into: &plaintext)
            }
        }
        return plaintext
    }

    private static let nonceRange = AES256GCM.keySize..<AES256GCM.keySize + AES256GCM.nonceSize

    /// Key and nonce. Both points go into the hash, so that a box names its one recipient (and cannot be turned into
    /// one for a related key).
    private static func derive(
        _ shared: borrowing SecretBytes, ephemeral: [UInt8], recipient: [UInt8], _ context: RawSpan
    ) throws(CryptographyError) -> SecretBytes {
        var input = try SecretBytes.zeroed(shared.count + ephemeral.count + recipient.count, lifetime: .transient)
        input.withMutableBytes { input in
            shared.withBytes { copy($0, into: &input) }
            for (index, byte) in (ephemeral + recipient).enumerated() {
                input.storeBytes(of: byte, toByteOffset: shared.count + index, as: UInt8.self)
            }
        }
        return try HKDFSHA256.derive(input, salt: context, info: info, count: nonceRange.upperBound)
    }

    private static func cipher(_ derived: borrowing SecretBytes) throws(CryptographyError) -> AES256GCM {
        var key = try SecretBytes.zeroed(AES256GCM.keySize, lifetime: .transient)
        key.withMutableBytes { key in
            derived.withBytes { derived in copy(derived.extracting(0..<AES256GCM.keySize), into: &key) }
        }
        return try AES256GCM(key: key)
    }

    private static func copy(_ bytes: RawSpan, into target: inout MutableRawSpan) {
        for index in 0..<bytes.byteCount {
            let byte = unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            target.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
        }
    }
}
