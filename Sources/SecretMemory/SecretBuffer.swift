/// Bytes in locked memory that grow while they are written; what they grew out of is wiped.
package struct SecretBuffer: ~Copyable, Sendable {
    private var storage: SecretBytes?
    /// Bytes that were written.
    package private(set) var count = 0
    /// Bytes that it may have.
    package let limit: Int

    /// Empty; memory is taken with the first bytes.
    package init(limit: Int = 1 << 30) { self.limit = limit }

    /// Takes memory for so many bytes in all, where they are known: what grows by doubling is there twice for a moment.
    /// - Throws: As ``append(_:)``.
    package mutating func reserveCapacity(_ capacity: Int) throws(SecretMemoryError) {
        guard capacity <= limit else { throw .invalidSize(capacity) }
        try reserve(capacity)
    }

    /// - Throws: `invalidSize` beyond the limit, `lockedMemoryExhausted`; then nothing was written.
    package mutating func append(_ bytes: RawSpan) throws(SecretMemoryError) {
        guard bytes.byteCount <= limit - count else { throw .invalidSize(count) }
        guard bytes.byteCount > 0 else { return }
        try reserve(count + bytes.byteCount)
        let start = count
        change { storage in
            storage.withPart(start..<start + bytes.byteCount) { part in
                unsafe part.withUnsafeMutableBytes { part in
                    unsafe bytes.withUnsafeBytes { unsafe part.copyMemory(from: $0) }
                }
            }
        }
        count += bytes.byteCount
    }

    /// - Throws: As ``append(_:)``.
    package mutating func append(_ byte: UInt8) throws(SecretMemoryError) {
        guard count < limit else { throw .invalidSize(count) }
        try reserve(count + 1)
        let start = count
        change { $0.storeBytes(of: byte, toByteOffset: start, as: UInt8.self) }
        count += 1
    }

    /// Appends a text that is no secret.
    /// - Throws: As ``append(_:)``.
    package mutating func append(_ text: String) throws(SecretMemoryError) {
        let bytes = Array(text.utf8)
        try unsafe append(bytes.span.bytes)
    }

    /// Lends what was written.
    package borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        switch storage {
        case .some(let bytes):
            return try bytes.withBytes { bytes throws(E) in try body(bytes.extracting(0..<count)) }
        case .none: return try body(RawSpan())
        }
    }

    /// A copy of what was written, as large as that.
    /// - Throws: `lockedMemoryExhausted`.
    package borrowing func bytes() throws(SecretMemoryError) -> SecretBytes {
        try withBytes { bytes throws(SecretMemoryError) in try SecretBytes(copying: bytes) }
    }

    /// Forgets what was written, and keeps the memory.
    package mutating func removeAll() {
        change { $0.wipe() }
        count = 0
    }

    /// Takes the last bytes away.
    package mutating func removeLast(_ number: Int) {
        let rest = max(0, count - number)
        change { storage in storage.withPart(rest..<storage.byteCount) { $0.wipe() } }
        count = rest
    }

    private mutating func reserve(_ needed: Int) throws(SecretMemoryError) {
        let size = storage?.count ?? 0
        guard needed > size else { return }
        var larger = try SecretBytes(zeroed: max(needed, min(limit, max(256, 2 * size))))
        withBytes { old in
            larger.withMutableBytes { larger in
                unsafe larger.withUnsafeMutableBytes { larger in
                    unsafe old.withUnsafeBytes { unsafe larger.copyMemory(from: $0) }
                }
            }
        }
        storage = consume larger
    }

    private mutating func change(_ body: (inout MutableRawSpan) -> Void) {
        guard var bytes = storage.take() else { return }
        bytes.withMutableBytes { body(&$0) }
        storage = consume bytes
    }
}
