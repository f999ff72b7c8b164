internal import CPlatform

/// How long a secret is expected to stay in memory; decides where it lies.
public enum SecretLifetime: Sendable, Hashable {
    /// Milliseconds: a passcode, a decrypted value. Up to 4,096 bytes come from the slab arena.
    case transient
    /// As long as something is unlocked: gets pages of its own between inaccessible guard pages.
    case longLived
}

/// Bytes that never leave locked memory, are wiped when their owner goes, and cannot be printed or copied by accident.
///
/// The memory is hidden from the kernel's own map where `memfd_secret(2)` exists, else it is locked (kept out of swap)
/// and left out of core files. It does not protect against a debugger attached by root, nor against copies a caller
/// makes from the span it is lent.
@safe public struct SecretBytes: ~Copyable, @unchecked Sendable {  // the one owner of its memory; no shared state
    @usableFromInline let storage: UnsafeMutableRawPointer
    /// Size in bytes.
    public let count: Int
    private let memory: Memory

    /// Whose the memory is.
    private enum Memory {
        case slot, pages
        /// Of ``BulkMemory``: in its slabs, in pages that count as locked for it, in pages that are not locked.
        case bulkSlot, bulkPages, ordinaryPages
        /// Another secret's, which outlives this one.
        case lent
    }

    /// Reserves `count` bytes, all zero.
    /// - Throws: ``SecretMemoryError/lockedMemoryExhausted(bytes:)``, ``SecretMemoryError/invalidSize(_:)``.
    public init(zeroed count: Int, lifetime: SecretLifetime = .transient) throws(SecretMemoryError) {
        guard count >= 0, count <= 1 << 30 else { throw .invalidSize(count) }
        if lifetime == .transient, BulkMemory.isAllowed {
            (unsafe storage, memory) = try unsafe SecretBytes.bulk(count)
        } else if lifetime == .longLived || count > SlabArena.largestSlot {
            unsafe storage = try GuardedPages.allocate(count)
            memory = .pages
        } else {
            unsafe storage = try SlabArena.shared.allocate(count)
            memory = .slot
        }
        self.count = count
    }

    private static func bulk(_ count: Int) throws(SecretMemoryError) -> (UnsafeMutableRawPointer, Memory) {
        if count <= SlabArena.largestSlot { return unsafe (try SlabArena.bulk.allocate(count), .bulkSlot) }
        if BulkMemory.claim(count) {
            if let pages = try? unsafe GuardedPages.allocate(count) { return unsafe (pages, .bulkPages) }
            BulkMemory.release(count)
        }
        return unsafe (try GuardedPages.allocateOrdinary(count), .ordinaryPages)
    }

    /// Whether it is kept out of swap for sure.
    var isLocked: Bool { memory != .ordinaryPages && memory != .bulkSlot }

    /// Reserves `count` bytes and lets `fill` write them.
    /// - Throws: ``SecretMemoryError`` when the memory cannot be had.
    public init(
        count: Int, lifetime: SecretLifetime = .transient, _ fill: (inout MutableRawSpan) -> Void
    ) throws(SecretMemoryError) {
        self = try SecretBytes(zeroed: count, lifetime: lifetime)
        withMutableBytes { bytes in fill(&bytes) }
    }

    /// Copies `bytes` into locked memory. The caller wipes the original where it can.
    /// - Throws: ``SecretMemoryError`` when the memory cannot be had.
    public init(copying bytes: RawSpan, lifetime: SecretLifetime = .transient) throws(SecretMemoryError) {
        self = try SecretBytes(zeroed: bytes.byteCount, lifetime: lifetime)
        unsafe bytes.withUnsafeBytes { source in
            if let base = source.baseAddress { unsafe storage.copyMemory(from: base, byteCount: source.count) }
        }
        cplatform_wipe_registers()  // they were copied through vectors
    }

    /// Lends the bytes for reading; the span ends with the closure.
    @inlinable @inline(__always)
    public borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try unsafe body(RawSpan(_unsafeStart: UnsafeRawPointer(storage), byteCount: count))
    }

    /// Lends the bytes for writing; the span ends with the closure.
    @inlinable @inline(__always)
    package mutating func withMutableBytes<R: ~Copyable, E: Error>(
        _ body: (inout MutableRawSpan) throws(E) -> R
    ) throws(E) -> R {
        var span = unsafe MutableRawSpan(_unsafeStart: storage, byteCount: count)
        return try body(&span)
    }

    /// A second, independent secret with the same bytes.
    /// - Throws: ``SecretMemoryError`` when the memory cannot be had.
    package borrowing func copy(lifetime: SecretLifetime = .transient) throws(SecretMemoryError) -> SecretBytes {
        try copy(0..<count, lifetime: lifetime)
    }

    /// An independent secret holding the bytes at `range`.
    /// - Throws: ``SecretMemoryError/invalidSize(_:)`` when the range lies outside, else as ``copy(lifetime:)``.
    package borrowing func copy(
        _ range: Range<Int>, lifetime: SecretLifetime = .transient
    ) throws(SecretMemoryError) -> SecretBytes {
        guard range.lowerBound >= 0, range.upperBound <= count else { throw .invalidSize(range.upperBound) }
        return try withBytes { bytes throws(SecretMemoryError) in
            try SecretBytes(copying: bytes.extracting(range), lifetime: lifetime)
        }
    }

    /// Lends the bytes at `range` as a secret, without a copy; a range outside is our own mistake and traps.
    package borrowing func withPart<R: ~Copyable, E: Error>(
        _ range: Range<Int>, _ body: (borrowing SecretBytes) throws(E) -> R
    ) throws(E) -> R {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "part outside of its secret")
        return try body(unsafe SecretBytes(lent: storage + range.lowerBound, count: range.count))
    }

    private init(lent storage: UnsafeMutableRawPointer, count: Int) {
        unsafe self.storage = storage
        self.count = count
        memory = .lent
    }

    /// Compares in time that depends on the sizes only.
    public borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
        other.withBytes { isEqual(to: $0) }
    }

    /// Compares in time that depends on the sizes only.
    package borrowing func isEqual(to other: RawSpan) -> Bool {
        withBytes { constantTimeEquals($0, other) }
    }

    deinit {
        switch memory {
        case .slot: unsafe SlabArena.shared.free(storage, count)
        case .pages:
            unsafe GuardedPages.free(storage, count)
            // With a key goes what its use has left on this thread.
            WorkingMemory.wipeAll()
        case .bulkSlot: unsafe SlabArena.bulk.free(storage, count)
        case .bulkPages:
            unsafe GuardedPages.free(storage, count)
            BulkMemory.release(count)
            WorkingMemory.wipeAll()
        case .ordinaryPages:
            unsafe GuardedPages.freeMapped(storage, count)
            WorkingMemory.wipeAll()
        case .lent: break
        }
    }
}

/// Compares two byte spans without a branch on their contents; sizes are not secret.
package func constantTimeEquals(_ left: RawSpan, _ right: RawSpan) -> Bool {
    guard left.byteCount == right.byteCount else { return false }
    var difference: UInt8 = 0
    for offset in 0..<left.byteCount {
        difference |=
            unsafe left.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
            ^ right.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
    }
    return blackBox(difference) == 0
}

// Out of line, so that the optimiser cannot turn the loop above into an early exit.
@inline(never) private func blackBox(_ value: UInt8) -> UInt8 { value }

extension MutableRawSpan {
    /// Overwrites every byte with zero in a way that the optimiser cannot drop.
    package mutating func wipe() {
        unsafe withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { unsafe cplatform_wipe(base, bytes.count) }
        }
    }
}

extension MutableRawSpan {
    /// Lends the bytes at `range` for writing; a range outside is our own mistake and traps.
    @inlinable
    package mutating func withPart<R: ~Copyable, E: Error>(
        _ range: Range<Int>, _ body: (inout MutableRawSpan) throws(E) -> R
    ) throws(E) -> R {
        precondition(range.lowerBound >= 0 && range.upperBound <= byteCount, "part outside of its span")
        return try unsafe withUnsafeMutableBytes { bytes throws(E) in
            var part = unsafe MutableRawSpan(_unsafeBytes: UnsafeMutableRawBufferPointer(rebasing: bytes[range]))
            return try body(&part)
        }
    }
}

/// What can go wrong while memory for a secret is prepared.
public enum SecretMemoryError: Error, Sendable, Hashable {
    /// The system lends no more memory that is kept out of swap (`RLIMIT_MEMLOCK`; usually 8 MiB for a user).
    case lockedMemoryExhausted(bytes: Int)
    /// A negative or absurd size was asked for.
    case invalidSize(Int)
    /// Argon2id could not get its working memory.
    case derivationOutOfMemory
    /// libsodium could not start; nothing secret may be touched.
    case libraryUnavailable
}

extension SecretMemoryError: CustomStringConvertible {
    /// What is wrong and what to do.
    public var description: String {
        switch self {
        case .lockedMemoryExhausted(let bytes):
            "no memory that is kept out of swap is left for \(bytes) bytes"
        case .invalidSize(let bytes): "\(bytes) bytes is not a possible size for a secret"
        case .derivationOutOfMemory: "not enough memory to derive a key with these Argon2id parameters"
        case .libraryUnavailable: "libsodium could not be started"
        }
    }
}
