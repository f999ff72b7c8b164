internal import COpenSSL
package import SecretMemory

/// Diffie-Hellman in the group of 1,024 bits of RFC 2409, section 6.2, which the Secret Service API prescribes. Too
/// small for a secret that is to last; there it guards what passes over a bus of one machine.
package enum DiffieHellman1024 {
    /// Bytes of a public number and of what was agreed on.
    package static let size = 128

    /// Our public number, and what only the two sides know.
    package struct Agreement: ~Copyable {
        /// 128 bytes, big endian.
        package let publicNumber: [UInt8]
        /// 128 bytes, big endian. Not a key yet.
        package let shared: SecretBytes
    }

    /// Makes a private number, uses it once and forgets it.
    /// - Parameter peer: The other side's public number, big endian, at most 128 bytes.
    /// - Throws: ``CryptographyError/invalidSize`` for a number that is not between 2 and p - 2,
    ///   ``CryptographyError/memory(_:)``, ``CryptographyError/library(code:)``.
    package static func agree(with peer: RawSpan) throws(CryptographyError) -> Agreement {
        let offer = try Offer.make()
        return Agreement(publicNumber: offer.publicNumber, shared: try offer.agree(with: peer))
    }

    /// A private number of ours, for the side that speaks first.
    package struct Offer: ~Copyable {
        /// 128 bytes, big endian.
        package let publicNumber: [UInt8]
        /// 128 bytes, big endian.
        private let number: SecretBytes

        private init(_ publicNumber: [UInt8], _ number: consuming SecretBytes) {
            self.publicNumber = publicNumber
            self.number = number
        }

        /// Makes one.
        /// - Throws: ``CryptographyError/memory(_:)``, ``CryptographyError/library(code:)``.
        package static func make() throws(CryptographyError) -> Offer {
            try OpenSSL.start()
            let group = try Group()
            guard let generator = unsafe BN_new(), let ours = unsafe BN_new(), let secret = unsafe BN_secure_new()
            else {
                throw OpenSSL.takeError()
            }
            defer {
                unsafe BN_free(generator)
                unsafe BN_free(ours)
                unsafe BN_clear_free(secret)
            }
            guard unsafe BN_set_word(generator, 2) == 1 else { throw OpenSSL.takeError() }
            // Numbers are made until one is not 0 or 1, which never takes a second one.
            repeat {
                guard unsafe BN_priv_rand_range(secret, group.limit) == 1 else { throw OpenSSL.takeError() }
            } while unsafe BN_cmp(secret, generator) < 0
            unsafe BN_set_flags(secret, BN_FLG_CONSTTIME)
            guard
                unsafe BN_mod_exp_mont_consttime(ours, generator, secret, group.prime, group.context, nil) == 1
            else { throw OpenSSL.takeError() }
            var publicNumber = [UInt8](repeating: 0, count: size)
            guard unsafe BN_bn2binpad(ours, &publicNumber, Int32(size)) == Int32(size) else {
                throw OpenSSL.takeError()
            }
            return Offer(publicNumber, unsafe try DiffieHellman1024.bytes(of: secret))
        }

        /// What only the two sides know: 128 bytes, big endian.
        /// - Throws: As ``DiffieHellman1024/agree(with:)``.
        package borrowing func agree(with peer: RawSpan) throws(CryptographyError) -> SecretBytes {
            guard (1...size).contains(peer.byteCount) else { throw .invalidSize }
            let group = try Group()
            guard let generator = unsafe BN_new(), let result = unsafe BN_secure_new(),
                let secret = unsafe BN_secure_new(),
                let theirs = unsafe peer.withPointer({ unsafe BN_bin2bn($0, Int32(peer.byteCount), nil) })
            else { throw OpenSSL.takeError() }
            defer {
                unsafe BN_free(generator)
                unsafe BN_free(theirs)
                unsafe BN_clear_free(secret)
                unsafe BN_clear_free(result)
            }
            // 1 and p - 1 generate groups of one and two elements: what is agreed on would be known.
            guard unsafe BN_set_word(generator, 2) == 1, unsafe BN_cmp(theirs, generator) >= 0,
                unsafe BN_cmp(theirs, group.limit) < 0
            else { throw .invalidSize }
            let isRead = number.withBytes { number in
                unsafe number.withPointer { unsafe BN_bin2bn($0, Int32(size), secret) } != nil
            }
            unsafe BN_set_flags(secret, BN_FLG_CONSTTIME)
            guard isRead,
                unsafe BN_mod_exp_mont_consttime(result, theirs, secret, group.prime, group.context, nil) == 1
            else { throw OpenSSL.takeError() }
            return unsafe try DiffieHellman1024.bytes(of: result)
        }
    }

    @unsafe private static func bytes(of number: OpaquePointer) throws(CryptographyError) -> SecretBytes {
        var bytes = try SecretBytes.zeroed(size, lifetime: .transient)
        let written = bytes.withMutableBytes { bytes in
            unsafe bytes.withMutablePointer { unsafe BN_bn2binpad(number, $0, Int32(size)) }
        }
        guard written == Int32(size) else { throw OpenSSL.takeError() }
        return bytes
    }

    /// The prime, and what is one less.
    @safe private final class Group {
        let prime: OpaquePointer
        let limit: OpaquePointer
        let context: OpaquePointer

        init() throws(CryptographyError) {
            guard let prime = unsafe BN_get_rfc2409_prime_1024(nil) else { throw OpenSSL.takeError() }
            guard let limit = unsafe BN_dup(prime), unsafe BN_sub_word(limit, 1) == 1,
                let context = unsafe BN_CTX_secure_new()
            else {
                unsafe BN_free(prime)
                throw OpenSSL.takeError()
            }
            unsafe (self.prime, self.limit, self.context) = (prime, limit, context)
        }

        deinit {
            unsafe BN_free(prime)
            unsafe BN_free(limit)
            unsafe BN_CTX_free(context)
        }
    }
}

extension BlockCipher {
    /// Encrypts with AES-128 in CBC mode and the padding of PKCS #7.
    /// - Throws: ``CryptographyError/invalidSize`` unless key and vector have 16 bytes; as
    ///   ``decryptCBC(_:key:vector:)``.
    package static func encryptCBC128(
        _ content: RawSpan, key: borrowing SecretBytes, vector: RawSpan
    ) throws(CryptographyError) -> SecretBytes {
        guard vector.byteCount == 16 else { throw .invalidSize }
        return try unsafe OpenSSLStream.run(
            EVP_aes_128_cbc(), content, key: key, vector: vector, encrypts: true,
            room: (content.byteCount / 16 + 1) * 16)
    }

    /// As ``decryptCBC128(_:key:vector:)``, of blocks that others follow, without padding.
    package static func decryptCBC128(
        blocks content: RawSpan, key: borrowing SecretBytes, vector: RawSpan
    ) throws(CryptographyError) -> SecretBytes {
        guard vector.byteCount == 16, content.byteCount > 0, content.byteCount % 16 == 0 else { throw .invalidSize }
        return try unsafe OpenSSLStream.run(
            EVP_aes_128_cbc(), content, key: key, vector: vector, encrypts: false, isPadded: false,
            room: content.byteCount)
    }

    /// As ``encryptCBC128(_:key:vector:)``, the other way. How long it takes tells nothing of what is wrong in the
    /// padding.
    /// - Throws: ``CryptographyError/invalidSize`` for other sizes and for wrong padding.
    package static func decryptCBC128(
        _ content: RawSpan, key: borrowing SecretBytes, vector: RawSpan
    ) throws(CryptographyError) -> SecretBytes {
        guard vector.byteCount == 16, content.byteCount > 0, content.byteCount % 16 == 0 else { throw .invalidSize }
        let padded = try unsafe OpenSSLStream.run(
            EVP_aes_128_cbc(), content, key: key, vector: vector, encrypts: false, isPadded: false)
        guard padded.count == content.byteCount else { throw .invalidSize }
        let count = padded.withBytes { bytes in
            let size = bytes.byteCount
            func byte(_ offset: Int) -> Int32 { Int32(unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)) }
            let length = byte(size - 1)
            // Zero or all ones by sign, without a branch: the length is 1 to 16, and all bytes of the padding are the
            // length.
            var wrong = (length - 1) >> 31 | (16 - length) >> 31
            for distance in Int32(1)...16 {
                let isPadding = ~((length - distance) >> 31)
                wrong |= isPadding & (byte(size - Int(distance)) ^ length)
            }
            return wrong == 0 ? size - Int(length) : -1
        }
        guard count >= 0 else { throw .invalidSize }
        do throws(SecretMemoryError) { return try padded.copy(0..<count) } catch { throw .memory(error) }
    }
}
