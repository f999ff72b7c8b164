internal import COpenSSL
package import SecretMemory

/// A P-256 private key that signs and agrees on keys. The scalar lies in libcrypto's locked heap and is cleansed with
/// this value.
package struct OpenSSLP256PrivateKey: ~Copyable, Sendable {
    let key: OpenSSLP256.Key
    private let signatures: OpenSSLP256.Operations
    /// The point that verifies this key's signatures.
    package let publicKey: OpenSSLP256PublicKey

    deinit { WorkingMemory.wipe() }

    /// Takes a scalar and computes its public point.
    /// - Parameter scalar: 32 bytes, big endian.
    /// - Throws: ``CryptographyError/invalidSize``; ``CryptographyError/scalarOutOfRange`` for zero and from the group
    ///   order on; ``CryptographyError/library(code:)``, also when the locked heap is full;
    ///   ``CryptographyError/memory(_:)``.
    package init(scalar: borrowing SecretBytes) throws(CryptographyError) {
        guard scalar.count == OpenSSLP256.size else { throw .invalidSize }
        try OpenSSL.start()
        let point = try Self.publicPoint(scalar)
        let publicKey = try unsafe OpenSSLP256PublicKey(uncompressed: point.span.bytes)
        let key = try Self.makeKey(scalar, point)
        self.publicKey = publicKey
        self.key = key
        signatures = OpenSSLP256.Operations(.sign, with: key)
    }

    /// The scalar: 32 bytes, big endian.
    /// - Throws: ``CryptographyError/memory(_:)``, ``CryptographyError/library(code:)``.
    package borrowing func scalar() throws(CryptographyError) -> SecretBytes {
        var scalar = try SecretBytes.zeroed(OpenSSLP256.size, lifetime: .transient)
        let isRead = scalar.withMutableBytes { scalar in
            unsafe scalar.withMutablePointer { bytes in
                var parameters = unsafe [
                    OSSL_PARAM_construct_BN(("priv" as StaticString).cName, bytes, OpenSSLP256.size),
                    OSSL_PARAM_construct_end(),
                ]
                return unsafe parameters.withUnsafeMutableBufferPointer {
                    unsafe EVP_PKEY_get_params(key.pointer, $0.baseAddress) == 1
                        && $0[0].return_size == OpenSSLP256.size
                }
            }
        }
        guard isRead else { throw OpenSSL.takeError() }
        scalar.swapNativeAndBigEndian()
        return scalar
    }

    /// Signs the SHA-256 of `message` with ECDSA; the per-signature number is random, mixed with key and digest.
    /// - Returns: r then s, 64 bytes.
    /// - Throws: ``CryptographyError/library(code:)``.
    package borrowing func sign(_ message: RawSpan) throws(CryptographyError) -> [UInt8] {
        let digest = try OpenSSLP256.digest(message)
        var signature = [UInt8](repeating: 0, count: Self.signatureSize)
        let isSigned = try unsafe signatures.withContext { context in
            unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: OpenSSLP256.maximumDERCount) { der in
                var count = der.count
                let status = digest.withBytes { digest in
                    unsafe digest.withPointer {
                        unsafe EVP_PKEY_sign(context, der.baseAddress, &count, $0, OpenSSLP256.size)
                    }
                }
                guard status == 1 else { return false }
                let written = unsafe UnsafeMutableRawBufferPointer(start: der.baseAddress, count: count)
                return unsafe OpenSSLP256.decodeDER(written, into: &signature)
            }
        }
        guard isSigned else { throw OpenSSL.takeError() }
        return signature
    }

    /// Scalar times generator, in 65 bytes.
    private static func publicPoint(_ scalar: borrowing SecretBytes) throws(CryptographyError) -> [UInt8] {
        let group = try unsafe OpenSSLP256.group.pointer()
        let number = try SecretNumber(bigEndian: scalar)
        // Comparing takes time that depends on the scalar, but tells only how far it agrees with the order, that is
        // nothing for all but one in 2^32 scalars.
        guard unsafe BN_is_zero(number.pointer) == 0, unsafe BN_cmp(number.pointer, EC_GROUP_get0_order(group)) < 0
        else { throw .scalarOutOfRange }
        guard let point = unsafe EC_POINT_new(group) else { throw OpenSSL.takeError() }
        defer { unsafe EC_POINT_clear_free(point) }
        guard let context = unsafe BN_CTX_secure_new() else { throw OpenSSL.takeError() }
        defer { unsafe BN_CTX_free(context) }
        var bytes = [UInt8](repeating: 0, count: 65)
        guard unsafe EC_POINT_mul(group, point, number.pointer, nil, nil, context) == 1,
            unsafe EC_POINT_point2oct(
                group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, context) == bytes.count
        else { throw OpenSSL.takeError() }
        return bytes
    }

    private static func makeKey(
        _ scalar: borrowing SecretBytes, _ point: [UInt8]
    ) throws(CryptographyError) -> OpenSSLP256.Key {
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
                        OpenSSL.parameter("group", text: "prime256v1"),
                        OpenSSL.parameter("pub", point.baseAddress, point.count),
                        OSSL_PARAM_construct_BN(("priv" as StaticString).cName, native, OpenSSLP256.size),
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

/// A number in libcrypto's locked heap, used in constant time where libcrypto can, cleansed at its end.
@safe private struct SecretNumber: ~Copyable {
    let pointer: OpaquePointer

    init(bigEndian bytes: borrowing SecretBytes) throws(CryptographyError) {
        guard let number = unsafe BN_secure_new() else { throw OpenSSL.takeError() }
        unsafe BN_set_flags(number, BN_FLG_CONSTTIME)
        let isRead = bytes.withBytes { bytes in
            unsafe bytes.withPointer { unsafe BN_bin2bn($0, Int32(bytes.byteCount), number) != nil }
        }
        guard isRead else {
            unsafe BN_clear_free(number)
            throw OpenSSL.takeError()
        }
        unsafe pointer = number
    }

    deinit { unsafe BN_clear_free(pointer) }
}

extension SecretBytes {
    /// Turns the number in these bytes from big endian to this machine's order, or back.
    fileprivate mutating func swapNativeAndBigEndian() {
        guard 1.bigEndian != 1 else { return }
        withMutableBytes { bytes in
            unsafe bytes.withUnsafeMutableBytes { bytes in
                var bytes = unsafe bytes
                unsafe bytes.reverse()
            }
        }
    }
}

extension OpenSSLP256PrivateKey {
    /// The x coordinate of scalar times point: elliptic-curve Diffie-Hellman (NIST SP 800-56A, 5.7.1.2; SEC 1, 3.3.1).
    ///
    /// Not a key yet: derive one with ``HKDFSHA256``, over both public points too. The peer's point was found to lie on
    /// the curve when it was made; with cofactor 1 there is no smaller group to be led into.
    /// - Returns: 32 bytes, big endian.
    /// - Throws: ``CryptographyError/library(code:)``, ``CryptographyError/memory(_:)``.
    package borrowing func sharedSecret(
        with peer: OpenSSLP256PublicKey
    ) throws(CryptographyError) -> SecretBytes {
        var secret = try SecretBytes.zeroed(OpenSSLP256.size, lifetime: .transient)
        guard let context = unsafe key.makeContext() else { throw OpenSSL.takeError() }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        guard unsafe EVP_PKEY_derive_init(context) == 1, unsafe EVP_PKEY_derive_set_peer(context, peer.key.pointer) == 1
        else { throw OpenSSL.takeError() }
        var count = OpenSSLP256.size
        let status = secret.withMutableBytes { secret in
            unsafe secret.withMutablePointer { unsafe EVP_PKEY_derive(context, $0, &count) }
        }
        guard status == 1, count == OpenSSLP256.size else { throw OpenSSL.takeError() }
        return secret
    }
}
