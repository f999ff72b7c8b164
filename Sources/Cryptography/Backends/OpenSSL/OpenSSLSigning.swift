internal import COpenSSL
package import SecretMemory

extension OpenSSL {
    /// Signs a message as the key's kind does, with a hash if the kind leaves it open.
    /// - Returns: As libcrypto writes it: of ECDSA in DER.
    /// - Throws: ``CryptographyError/library(code:)``.
    @unsafe static func sign(
        _ message: RawSpan, with key: OpaquePointer, hash: StaticString?
    ) throws(CryptographyError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw takeError() }
        defer { unsafe EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: max(0, unsafe Int(EVP_PKEY_get_size(key))))
        var count = signature.count
        guard unsafe EVP_DigestSignInit_ex(context, nil, hash?.cName, nil, nil, key, nil) == 1 else {
            throw takeError()
        }
        let size = message.byteCount
        let status = unsafe message.withPointer { message in
            unsafe EVP_DigestSign(context, &signature, &count, message, size)
        }
        guard status == 1, count <= signature.count else { throw takeError() }
        signature.removeLast(signature.count - count)
        return signature
    }
}

/// A curve of ECDSA keys: what libcrypto calls it, and the sizes of its numbers.
struct OpenSSLCurve: Sendable {
    private let name: StaticString
    private let group: OpenSSL.Algorithm
    /// Bytes of a coordinate and of a scalar.
    let size: Int

    static let p256 = OpenSSLCurve(name: "prime256v1", group: OpenSSLP256.group, size: OpenSSLP256.size)
    static let p384 = unsafe OpenSSLCurve(
        name: "secp384r1", group: OpenSSL.Algorithm(EC_GROUP_new_by_curve_name(NID_secp384r1)), size: 48)
    static let p521 = unsafe OpenSSLCurve(
        name: "secp521r1", group: OpenSSL.Algorithm(EC_GROUP_new_by_curve_name(NID_secp521r1)), size: 66)

    /// Scalar times generator, as 04, x, y.
    /// - Throws: ``CryptographyError/scalarOutOfRange``.
    func publicPoint(_ scalar: borrowing SecretBytes) throws(CryptographyError) -> [UInt8] {
        let group = try unsafe group.pointer()
        let numbers = SecretNumbers()
        defer { withExtendedLifetime(numbers) {} }
        let number = try unsafe scalar.withBytes { bytes throws(CryptographyError) in try unsafe numbers.read(bytes) }
        // Comparing takes time that depends on the scalar, but tells only how far it agrees with the order, that is
        // nothing for all but one in 2^32 scalars.
        guard unsafe BN_is_zero(number) == 0, unsafe BN_cmp(number, EC_GROUP_get0_order(group)) < 0
        else { throw .scalarOutOfRange }
        guard let point = unsafe EC_POINT_new(group) else { throw OpenSSL.takeError() }
        defer { unsafe EC_POINT_clear_free(point) }
        guard let context = unsafe BN_CTX_secure_new() else { throw OpenSSL.takeError() }
        defer { unsafe BN_CTX_free(context) }
        var bytes = [UInt8](repeating: 0, count: 1 + 2 * size)
        guard unsafe EC_POINT_mul(group, point, number, nil, nil, context) == 1,
            unsafe EC_POINT_point2oct(
                group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, context) == bytes.count
        else { throw OpenSSL.takeError() }
        return bytes
    }

    /// - Parameter point: As ``publicPoint(_:)`` gives it.
    func makeKey(_ scalar: borrowing SecretBytes, _ point: [UInt8]) throws(CryptographyError) -> OpenSSLP256.Key {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { throw OpenSSL.takeError() }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var native = try scalar.duplicate()
        native.swapNativeAndBigEndian()
        var key: OpaquePointer?
        // The parameters point into the secret and the array, so they exist only in here.
        let status = native.withMutableBytes { native in
            unsafe native.withMutablePointer { native in
                unsafe point.withUnsafeBufferPointer { point in
                    var parameters = unsafe [
                        OpenSSL.parameter("group", text: name),
                        OpenSSL.parameter("pub", point.baseAddress, point.count),
                        OSSL_PARAM_construct_BN(("priv" as StaticString).cName, native, size),
                        OSSL_PARAM_construct_end(),
                    ]
                    guard unsafe EVP_PKEY_fromdata_init(context) == 1 else { return Int32(0) }
                    return unsafe EVP_PKEY_fromdata(context, &key, copenssl_keypair_selection(), &parameters)
                }
            }
        }
        guard status == 1, let key = unsafe key else { throw OpenSSL.takeError() }
        return unsafe OpenSSLP256.Key(owning: key)
    }
}

/// Numbers in libcrypto's locked heap, used in constant time where libcrypto can, cleansed with this object: whoever
/// uses one keeps it that long.
@safe final class SecretNumbers {
    private var all: [OpaquePointer] = unsafe []

    deinit { unsafe all.forEach { unsafe BN_clear_free($0) } }

    /// Zero.
    @unsafe func make() throws(CryptographyError) -> OpaquePointer {
        guard let number = unsafe BN_secure_new() else { throw OpenSSL.takeError() }
        unsafe BN_set_flags(number, BN_FLG_CONSTTIME)
        unsafe all.append(number)
        return unsafe number
    }

    /// What is written big endian.
    @unsafe func read(_ bytes: RawSpan) throws(CryptographyError) -> OpaquePointer {
        let number = try unsafe make()
        let size = bytes.byteCount
        guard unsafe bytes.withPointer({ unsafe BN_bin2bn($0, Int32(size), number) }) != nil else {
            throw OpenSSL.takeError()
        }
        return unsafe number
    }
}

extension SecretBytes {
    /// Turns the number in these bytes from big endian to this machine's order, or back.
    mutating func swapNativeAndBigEndian() {
        guard 1.bigEndian != 1 else { return }
        withMutableBytes { bytes in
            unsafe bytes.withUnsafeMutableBytes { bytes in
                var bytes = unsafe bytes
                unsafe bytes.reverse()
            }
        }
    }
}

/// A private key on one of the curves that only SSH keys are on. The scalar lies in libcrypto's locked heap and is
/// cleansed with this value.
package struct OpenSSLECDSAPrivateKey: ~Copyable {
    /// Which curve, and so which hash (RFC 5656, section 6.2.1).
    package enum Curve: Sendable, Hashable, CaseIterable {
        case p384, p521

        fileprivate var curve: OpenSSLCurve { self == .p384 ? .p384 : .p521 }
        fileprivate var hash: StaticString { self == .p384 ? "SHA2-384" : "SHA2-512" }
    }

    private let curve: Curve
    private let key: OpenSSLP256.Key
    /// The point that verifies this key's signatures: 04, x, y.
    package let publicPoint: [UInt8]

    deinit { WorkingMemory.wipe() }

    /// Takes a scalar and computes its public point.
    /// - Parameter scalar: 48 bytes, or 66, big endian.
    /// - Throws: As ``OpenSSLP256PrivateKey/init(scalar:)``.
    package init(_ curve: Curve, scalar: borrowing SecretBytes) throws(CryptographyError) {
        guard scalar.count == curve.curve.size else { throw .invalidSize }
        try OpenSSL.start()
        let point = try curve.curve.publicPoint(scalar)
        key = try curve.curve.makeKey(scalar, point)
        publicPoint = point
        self.curve = curve
    }

    /// Signs the SHA-384 or SHA-512 of a message; the per-signature number is random, mixed with key and digest.
    /// - Returns: r then s, each as long as a scalar.
    /// - Throws: ``CryptographyError/library(code:)``.
    package borrowing func sign(_ message: RawSpan) throws(CryptographyError) -> [UInt8] {
        var der = try unsafe OpenSSL.sign(message, with: key.pointer, hash: curve.hash)
        var signature = [UInt8](repeating: 0, count: 2 * curve.curve.size)
        let isRead = unsafe der.withUnsafeMutableBytes { unsafe OpenSSLP256.decodeDER($0, into: &signature) }
        guard isRead else { throw OpenSSL.takeError() }
        return signature
    }
}
