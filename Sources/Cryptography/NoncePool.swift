internal import SecretMemory
internal import SystemCalls

/// A 96-bit AEAD nonce, held in two machine words so that none is allocated.
@usableFromInline package struct Nonce96: Sendable {
    @usableFromInline let head: UInt64
    @usableFromInline let tail: UInt32

    /// Copies 12 bytes; nil for any other size.
    package init?(copying bytes: RawSpan) {
        guard bytes.byteCount == 12 else { return nil }
        unsafe head = bytes.unsafeLoadUnaligned(as: UInt64.self)
        unsafe tail = bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt32.self)
    }

    /// Lends the 12 bytes.
    @inlinable @inline(__always)
    package func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        // 8 + 4 bytes without padding between them: the size (not the stride) of the value is 12.
        try unsafe withUnsafeBytes(of: self) { buffer throws(E) in
            try unsafe body(RawSpan(_unsafeBytes: buffer))
        }
    }
}

/// Random nonces, drawn 341 at a time because one call of the generator per nonce costs more than sealing a record.
///
/// Nonces still to be used stay in locked memory and each is wiped as it is handed out. A pool carried into a forked
/// process is dropped there: parent and child would otherwise seal with the same nonces.
package struct NoncePool: ~Copyable {
    private static let nonceSize = 12
    private static let poolSize = 4096 / nonceSize * nonceSize

    // In an object, because a forked child must be able to abandon it: locked memory is not mapped there, and
    // wiping it at the end of the value's life would fault.
    private final class Storage: @unchecked Sendable {  // reached only through the pool's mutating functions
        // Unchecked, because the pool that reaches it is itself checked.
        @exclusivity(unchecked) var bytes: SecretBytes
        let owner: pid_t

        init() throws(CryptographyError) {
            owner = ProcessMark.current
            unsafe bytes = try .zeroed(NoncePool.poolSize, lifetime: .longLived)
        }
    }
    private var storage: Storage
    private var used = NoncePool.poolSize

    /// Makes an empty pool; the first nonce fills it.
    /// - Throws: ``CryptographyError/memory(_:)``.
    package init() throws(CryptographyError) { storage = try Storage() }

    /// Takes the next nonce, refilling the pool when it is empty.
    /// - Throws: ``CryptographyError/library(code:)`` when the generator fails, ``CryptographyError/memory(_:)`` when
    ///   a forked process cannot have a pool of its own.
    package mutating func next() throws(CryptographyError) -> Nonce96 {
        if storage.owner != ProcessMark.current {
            let fresh = try Storage()
            abandonStorage()
            storage = fresh
            used = NoncePool.poolSize
        }
        if used == NoncePool.poolSize {
            try unsafe storage.bytes.withMutableBytes { bytes throws(CryptographyError) in
                try SecureRandom.fill(&bytes)
            }
            used = 0
        }
        let offset = used
        used += NoncePool.nonceSize
        let nonce = unsafe storage.bytes.withMutableBytes { bytes in
            unsafe bytes.withUnsafeMutableBytes { buffer in
                let range = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: buffer[offset..<offset + NoncePool.nonceSize])
                var slot = unsafe MutableRawSpan(_unsafeBytes: range)
                let nonce = Nonce96(copying: slot.bytes)
                slot.wipe()
                return nonce
            }
        }
        guard let nonce else { throw .invalidSize }
        return nonce
    }

    /// Lends the unused nonces and the wiped places of the used ones, so that a test can see them.
    package borrowing func withPool<R>(_ body: (RawSpan) -> R) -> R { unsafe storage.bytes.withBytes(body) }

    /// Keeps the object for ever, so that its memory is never touched again.
    private func abandonStorage() { _ = unsafe Unmanaged.passRetained(storage) }

    deinit {
        if storage.owner != ProcessMark.current { abandonStorage() }
    }
}
