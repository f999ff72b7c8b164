internal import COpenSSL
internal import Synchronization

/// A point on P-256 that verifies signatures: its numbers, which libcrypto is given each time.
package final class OpenSSLP256PublicKey: Sendable {
    /// The point in 33 bytes: 02 or 03, then x.
    package let compressed: [UInt8]
    /// The point as 04, x, y: 65 bytes.
    package let uncompressed: [UInt8]

    /// Takes a compressed point (SEC 1, section 2.3.4).
    /// - Throws: ``CryptographyError/invalidPoint`` unless it is 33 bytes that start with 02 or 03, with x below the
    ///   field's prime and on the curve.
    package init(compressed bytes: RawSpan) throws(CryptographyError) {
        guard bytes.byteCount == Self.compressedSize else { throw .invalidPoint }
        let compressed = bytes.array
        // libcrypto finds the root four times slower.
        guard compressed[0] == 2 || compressed[0] == 3, let x = P256Number(compressed[1...]),
            let root = x.squareOfY.root
        else { throw .invalidPoint }
        let y = root.bytes
        uncompressed = [4] + compressed[1...] + (y[31] & 1 == compressed[0] & 1 ? y : root.negative.bytes)
        self.compressed = compressed
    }

    /// Takes the 65 bytes 04, x, y, as a private key gives them.
    init(uncompressed bytes: RawSpan) throws(CryptographyError) {
        guard bytes.byteCount == 65 else { throw .invalidPoint }
        let point = bytes.array
        guard point[0] == 4, let x = P256Number(point[1...32]), let y = P256Number(point[33...]), y * y == x.squareOfY
        else { throw .invalidPoint }
        compressed = [2 | point[64] & 1] + point[1...32]
        uncompressed = point
    }

    /// A key of libcrypto's, to agree with.
    func makeKey() throws(CryptographyError) -> OpenSSLP256.Key {
        let point = uncompressed
        return try unsafe OpenSSLP256.publicKey(point.span.bytes)
    }

    /// Verifies an ECDSA signature over the SHA-256 of `message`.
    /// - Parameter signature: r then s, 64 bytes; a high s is accepted.
    /// - Returns: False for any other size, for r or s outside 1 to n - 1, and also when libcrypto fails.
    package func isValid(signature: RawSpan, for message: RawSpan) -> Bool {
        guard signature.byteCount == 2 * OpenSSLP256.size, let digest = try? OpenSSLP256.digest(message),
            let verifier = P256Verifier.take()
        else { return reportInvalid() }
        let isValid = verifier.isValid(signature, digest, by: uncompressed)
        if isValid != nil { verifier.giveBack() }
        return isValid == true ? true : reportInvalid()
    }

    private func reportInvalid() -> Bool {
        ERR_clear_error()
        return false
    }
}

/// What libcrypto verifies with: a key whose point is another one each time, since each key that it makes has a copy of
/// the whole curve.
@safe private final class P256Verifier: @unchecked Sendable {  // one thread's at a time
    private static let idle = Mutex<[P256Verifier]>([])
    /// Those that are kept; threads beyond it make their own.
    private static let mostIdle = 16

    private let key: OpaquePointer

    private init(owning key: OpaquePointer) { unsafe self.key = key }

    deinit { unsafe EC_KEY_free(key) }

    /// A unique one; nil when libcrypto has no memory.
    static func take() -> P256Verifier? {
        if let known = idle.withLock({ $0.popLast() }) { return known }
        guard let group = try? unsafe OpenSSLP256.group.pointer(), let key = unsafe EC_KEY_new() else { return nil }
        let made = unsafe P256Verifier(owning: key)
        return unsafe EC_KEY_set_group(key, group) == 1 ? made : nil
    }

    /// Not after a failure, which may have left anything in it.
    func giveBack() { P256Verifier.idle.withLock { if $0.count < P256Verifier.mostIdle { $0.append(self) } } }

    /// - Parameter point: 04, x, y. libcrypto looks at it once more: whether it lies on the curve.
    /// - Returns: Nil when libcrypto fails.
    func isValid(_ signature: RawSpan, _ digest: Digest, by point: [UInt8]) -> Bool? {
        guard let numbers = unsafe OpenSSLP256.makeSignature(signature) else { return nil }
        defer { unsafe ECDSA_SIG_free(numbers) }
        guard unsafe EC_KEY_oct2key(key, point, point.count, nil) == 1 else { return nil }
        let status = digest.withBytes { digest in
            unsafe digest.withPointer { unsafe ECDSA_do_verify($0, Int32(OpenSSLP256.size), numbers, key) }
        }
        return status < 0 ? nil : status == 1
    }
}

extension RawSpan {
    /// A copy; never of a secret.
    var array: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}
