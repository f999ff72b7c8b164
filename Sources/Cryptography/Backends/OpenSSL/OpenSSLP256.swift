internal import COpenSSL
internal import Synchronization

/// What both P-256 keys need of libcrypto: the group, the handle of a key, and ECDSA signatures.
enum OpenSSLP256 {
    /// Bytes of a coordinate, a scalar, or half a signature.
    static let size = 32
    /// Most bytes of a DER signature.
    static let maximumDERCount = 72

    static let group = unsafe OpenSSL.Algorithm(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1))

    /// A key that has the group and no point: copying it is cheaper than naming the group for each key.
    static let template: Key? = {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_paramgen_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_group_name(context, "prime256v1") == 1,
            unsafe EVP_PKEY_paramgen(context, &key) == 1, let key = unsafe key
        else { return nil }
        return unsafe Key(owning: key)
    }()

    /// The one owner of a libcrypto key.
    @safe final class Key: @unchecked Sendable {  // never changed once made; libcrypto may then share it among threads
        let pointer: OpaquePointer
        init(owning pointer: OpaquePointer) { unsafe self.pointer = pointer }
        deinit { unsafe EVP_PKEY_free(pointer) }

        /// A fresh operation on this key; the caller frees it.
        @unsafe func makeContext() -> OpaquePointer? { unsafe EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) }
    }

    /// Signing with one key, prepared already: preparing costs a tenth of a signature. Each operation is one thread's
    /// at a time, and goes with the key.
    final class Signatures: Sendable {
        @safe private final class Operation: @unchecked Sendable {  // handed from thread to thread, never shared
            let context: OpaquePointer
            init(owning context: OpaquePointer) { unsafe self.context = context }
            deinit { unsafe EVP_PKEY_CTX_free(context) }
        }

        /// Those that are kept; threads beyond it make their own.
        private static let mostIdle = 8
        private let key: Key
        private let idle = Mutex<[Operation]>([])

        init(with key: Key) { self.key = key }

        /// Lends one that no other thread has. It is kept for the next time when `body` says that it worked.
        func withContext(_ body: (OpaquePointer) -> Bool) throws(CryptographyError) -> Bool {
            let operation = if let known = idle.withLock({ $0.popLast() }) { known } else { try prepare() }
            guard unsafe body(operation.context) else { return false }
            idle.withLock { if $0.count < Signatures.mostIdle { $0.append(operation) } }
            return true
        }

        private func prepare() throws(CryptographyError) -> Operation {
            guard let context = unsafe key.makeContext() else { throw OpenSSL.takeError() }
            let operation = unsafe Operation(owning: context)
            guard unsafe EVP_PKEY_sign_init(context) == 1 else { throw OpenSSL.takeError() }
            return operation
        }
    }

    /// A key from an encoded point; libcrypto checks that it lies on the curve and that x and y are reduced.
    static func publicKey(_ point: RawSpan) throws(CryptographyError) -> Key {
        try OpenSSL.start()
        guard let template, let key = unsafe EVP_PKEY_new() else { throw OpenSSL.takeError() }
        let owned = unsafe Key(owning: key)
        guard unsafe EVP_PKEY_copy_parameters(key, template.pointer) == 1 else { throw OpenSSL.takeError() }
        let status = unsafe point.withPointer { unsafe EVP_PKEY_set1_encoded_public_key(key, $0, point.byteCount) }
        guard status == 1 else {
            ERR_clear_error()
            throw .invalidPoint
        }
        return owned
    }

    /// SHA-256 of `message`.
    static func digest(_ message: RawSpan) throws(CryptographyError) -> Digest {
        let algorithm = try unsafe OpenSSL.sha256.pointer()
        var digest = Digest()
        let status = digest.withMutableBytes { digest in
            unsafe digest.withMutablePointer { digest in
                unsafe message.withPointer { unsafe EVP_Digest($0, message.byteCount, digest, nil, algorithm, nil) }
            }
        }
        guard status == 1 else { throw OpenSSL.takeError() }
        return digest
    }

    /// r and s of a raw signature, for the caller to free; nil when libcrypto has no memory.
    @unsafe static func makeSignature(_ signature: RawSpan) -> OpaquePointer? {
        guard let numbers = unsafe ECDSA_SIG_new() else { return nil }
        let isSet = unsafe signature.withPointer { bytes in
            guard let bytes = unsafe bytes, let r = unsafe BN_bin2bn(bytes, Int32(size), nil) else { return false }
            guard let s = unsafe BN_bin2bn(bytes + size, Int32(size), nil) else {
                unsafe BN_free(r)
                return false
            }
            return unsafe ECDSA_SIG_set0(numbers, r, s) == 1  // takes both; fails only for nil
        }
        guard isSet else {
            unsafe ECDSA_SIG_free(numbers)
            return nil
        }
        return unsafe numbers
    }

    /// Writes a DER signature, of any curve, as r then s, each half of `raw`.
    @unsafe static func decodeDER(_ signature: UnsafeMutableRawBufferPointer, into raw: inout [UInt8]) -> Bool {
        var start = unsafe UnsafePointer(signature.baseAddress?.assumingMemoryBound(to: UInt8.self))
        guard let numbers = unsafe d2i_ECDSA_SIG(nil, &start, signature.count) else { return false }
        defer { unsafe ECDSA_SIG_free(numbers) }
        return unsafe raw.withUnsafeMutableBufferPointer { raw in
            let size = raw.count / 2
            guard let base = raw.baseAddress else { return false }
            return unsafe BN_bn2binpad(ECDSA_SIG_get0_r(numbers), base, Int32(size)) == Int32(size)
                && BN_bn2binpad(ECDSA_SIG_get0_s(numbers), base + size, Int32(size)) == Int32(size)
        }
    }
}
