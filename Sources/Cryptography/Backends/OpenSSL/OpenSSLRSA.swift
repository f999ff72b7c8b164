internal import COpenSSL
internal import SecretMemory

/// A private key of RSA that signs with the padding of PKCS #1, version 1.5 (RFC 8017, section 8.2). libcrypto blinds
/// what it computes, and checks each result with the public exponent, so that an error in it gives no prime away.
///
/// libcrypto keeps its numbers in its ordinary heap, which is not locked memory; they are cleansed with this value.
package struct OpenSSLRSAPrivateKey: ~Copyable {
    private let key: OpenSSLP256.Key

    /// The hash of what is signed (RFC 8332). SHA-1 is not among them.
    package enum Hash: Sendable, Hashable, CaseIterable {
        case sha256, sha512
    }

    deinit { WorkingMemory.wipe() }

    /// Takes the numbers of a key, big endian, in sizes that were limited before. Nil where they do not belong
    /// together.
    /// - Parameters:
    ///   - inverse: Of the second prime, modulo the first one.
    ///   - first: A prime, which is believed.
    ///   - second: Another one.
    /// - Throws: ``CryptographyError/library(code:)``, also when the locked heap is full;
    ///   ``CryptographyError/memory(_:)``.
    package init?(
        modulus: RawSpan, exponent: RawSpan, privateExponent: RawSpan, inverse: RawSpan, first: RawSpan, second: RawSpan
    ) throws(CryptographyError) {
        try OpenSSL.start()
        let numbers = SecretNumbers()
        defer { withExtendedLifetime(numbers) {} }
        let n = try unsafe numbers.read(modulus)
        let e = try unsafe numbers.read(exponent)
        let d = try unsafe numbers.read(privateExponent)
        let (p, q) = try unsafe (numbers.read(first), numbers.read(second))
        let inverse = try unsafe numbers.read(inverse)
        guard let context = unsafe BN_CTX_secure_new() else { throw OpenSSL.takeError() }
        defer { unsafe BN_CTX_free(context) }
        let product = try unsafe numbers.make()
        guard unsafe BN_mul(product, p, q, context) == 1 else { throw OpenSSL.takeError() }
        // A prime of less than a quarter of the modulus can be found.
        let least = unsafe BN_num_bits(n) / 4
        guard unsafe BN_cmp(product, n) == 0, unsafe BN_num_bits(p) >= least, unsafe BN_num_bits(q) >= least,
            unsafe BN_cmp(d, n) < 0, unsafe BN_cmp(inverse, p) < 0
        else { return nil }
        /// The private exponent modulo a prime less one; nil where it is not the public exponent's inverse there.
        func remainder(_ prime: OpaquePointer) throws(CryptographyError) -> OpaquePointer? {
            let (less, remainder) = try unsafe (numbers.make(), numbers.make())
            guard unsafe BN_sub(less, prime, BN_value_one()) == 1,
                unsafe BN_div(nil, remainder, d, less, context) == 1,
                unsafe BN_mod_mul(product, e, remainder, less, context) == 1
            else { throw OpenSSL.takeError() }
            return unsafe BN_is_one(product) == 1 ? remainder : nil
        }
        guard let atFirst = try unsafe remainder(p), let atSecond = try unsafe remainder(q) else { return nil }
        guard unsafe BN_mod_mul(product, q, inverse, p, context) == 1 else { throw OpenSSL.takeError() }
        guard unsafe BN_is_one(product) == 1 else { return nil }
        key = try unsafe OpenSSLRSAPrivateKey.makeKey([
            ("n", n), ("e", e), ("d", d), ("rsa-factor1", p), ("rsa-factor2", q), ("rsa-exponent1", atFirst),
            ("rsa-exponent2", atSecond), ("rsa-coefficient1", inverse),
        ])
    }

    /// Signs the hash of a message.
    /// - Returns: As many bytes as the modulus has.
    /// - Throws: ``CryptographyError/library(code:)``.
    package borrowing func sign(_ message: RawSpan, _ hash: Hash) throws(CryptographyError) -> [UInt8] {
        try unsafe OpenSSL.sign(message, with: key.pointer, hash: hash == .sha256 ? "SHA2-256" : "SHA2-512")
    }

    @unsafe private static func makeKey(
        _ numbers: [(StaticString, OpaquePointer)]
    ) throws(CryptographyError) -> OpenSSLP256.Key {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "RSA", nil) else { throw OpenSSL.takeError() }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        let sizes = unsafe numbers.map { unsafe (Int(BN_num_bits($0.1)) + 7) / 8 }
        var native = try SecretBytes.zeroed(sizes.reduce(0, +), lifetime: .transient)
        var key: OpaquePointer?
        // The parameters point into the secret, so they exist only in here.
        let isMade = native.withMutableBytes { native in
            unsafe native.withMutablePointer { native in
                guard var place = unsafe native else { return false }
                var parameters: [OSSL_PARAM] = unsafe []
                for index in unsafe numbers.indices {
                    let ((name, number), size) = unsafe (numbers[index], sizes[index])
                    guard unsafe BN_bn2nativepad(number, place, Int32(size)) == Int32(size) else { return false }
                    unsafe parameters.append(OSSL_PARAM_construct_BN(name.cName, place, size))
                    unsafe place += size
                }
                unsafe parameters.append(OSSL_PARAM_construct_end())
                return unsafe EVP_PKEY_fromdata_init(context) == 1
                    && EVP_PKEY_fromdata(context, &key, copenssl_keypair_selection(), &parameters) == 1
            }
        }
        guard isMade, let key = unsafe key else { throw OpenSSL.takeError() }
        return unsafe OpenSSLP256.Key(owning: key)
    }
}
