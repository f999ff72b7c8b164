internal import COpenSSL
internal import SecretMemory

/// What every wrapper of libcrypto shares: its once-only start, its error queue and its algorithm handles.
enum OpenSSL {
    /// KiB of locked memory for libcrypto's own secrets (private keys, seeds), tried in turn where little may be
    /// locked. The first is room for about 4,000 P-256 keys at a time.
    private static let secureHeapSizes = [256, 64, 16]

    /// Whether libcrypto runs with a locked heap. It has to exist before the first private key or seed does, because
    /// libcrypto silently takes ordinary memory until then.
    static let isReady: Bool = {
        if CRYPTO_secure_malloc_initialized() == 1 { return true }
        return secureHeapSizes.contains { size in
            let status = CRYPTO_secure_malloc_init(size * 1024, 32)
            if status == 2 { CRYPTO_secure_malloc_done() }  // had the memory but could not lock it
            return status == 1
        }
    }()

    /// Throws when libcrypto could not get its locked heap.
    static func start() throws(CryptographyError) {
        guard isReady else { throw .memory(.lockedMemoryExhausted(bytes: secureHeapSizes[2] * 1024)) }
    }

    /// The oldest entry of this thread's error queue, which is emptied: a stale entry would be taken for the reason of
    /// a later failure.
    static func takeError() -> CryptographyError {
        let code = ERR_get_error()
        ERR_clear_error()
        return .library(code: UInt(code))
    }

    /// libcrypto's lengths are C ints; larger buffers are refused instead of truncated.
    static let maximumCount = Int(Int32.max) - 64

    // A fetch takes a lock and walks a table, so each algorithm is fetched once and kept until the process ends.
    static let aes256GCM = unsafe Algorithm(EVP_CIPHER_fetch(nil, "AES-256-GCM", nil))
    static let sha256 = unsafe Algorithm(EVP_MD_fetch(nil, "SHA2-256", nil))
    static let hmac = unsafe Algorithm(EVP_MAC_fetch(nil, "HMAC", nil))
    static let hkdf = unsafe Algorithm(EVP_KDF_fetch(nil, "HKDF", nil))

    /// A fetched algorithm; nil when no provider offers it.
    @safe struct Algorithm: @unchecked Sendable {  // libcrypto's method objects are immutable and counted atomically
        private let handle: OpaquePointer?

        init(_ handle: OpaquePointer?) { unsafe self.handle = handle }

        func pointer() throws(CryptographyError) -> OpaquePointer {
            guard let handle = unsafe handle else { throw OpenSSL.takeError() }
            return unsafe handle
        }
    }
}

extension StaticString {
    /// The address of a NUL-terminated name that lives as long as the process. Parameters keep the pointer they are
    /// given, so a name made from a Swift string would dangle.
    @safe var cName: UnsafePointer<CChar> {
        unsafe UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

extension RawSpan {
    /// Lends the bytes the way libcrypto takes them. The address may be nil when there are none.
    @inline(__always)
    func withPointer<R>(_ body: (UnsafePointer<UInt8>?) -> R) -> R {
        unsafe withUnsafeBytes { unsafe body($0.baseAddress?.assumingMemoryBound(to: UInt8.self)) }
    }
}

extension MutableRawSpan {
    /// Lends the bytes for writing the way libcrypto takes them. The address may be nil when there are none.
    @inline(__always)
    mutating func withMutablePointer<R>(_ body: (UnsafeMutablePointer<UInt8>?) -> R) -> R {
        unsafe withUnsafeMutableBytes { unsafe body($0.baseAddress?.assumingMemoryBound(to: UInt8.self)) }
    }
}

/// Random bytes from libcrypto's per-thread CTR-DRBG (NIST SP 800-90A), seeded by the kernel, reseeded after a fork.
package enum OpenSSLSecureRandom {
    /// Overwrites `bytes` with random bytes fit for keys.
    /// - Throws: ``CryptographyError/library(code:)`` when the generator could not be seeded (`bytes` is then wiped),
    ///   ``CryptographyError/invalidSize`` from 2 GiB on, ``CryptographyError/memory(_:)`` without locked memory.
    package static func fill(_ bytes: inout MutableRawSpan) throws(CryptographyError) {
        try unsafe fill(&bytes) { unsafe RAND_priv_bytes($0, $1) }
    }

    /// Overwrites `bytes` with random bytes that will be seen by others. They come from a generator of their own, so
    /// that nothing can be learnt from them about keys.
    /// - Throws: as ``fill(_:)``.
    package static func fillPublic(_ bytes: inout MutableRawSpan) throws(CryptographyError) {
        try unsafe fill(&bytes) { unsafe RAND_bytes($0, $1) }
    }

    private static func fill(
        _ bytes: inout MutableRawSpan, _ generate: (UnsafeMutablePointer<UInt8>?, Int32) -> Int32
    ) throws(CryptographyError) {
        try OpenSSL.start()
        let count = bytes.byteCount
        guard count <= OpenSSL.maximumCount else { throw .invalidSize }
        guard count > 0 else { return }
        guard unsafe bytes.withMutablePointer({ unsafe generate($0, Int32(count)) }) == 1 else {
            bytes.wipe()
            throw OpenSSL.takeError()
        }
    }
}
