package import SecretMemory

extension BLAKE3 {
    /// The digest of `bytes` in one call; up to 1,024 bytes allocate nothing.
    package static func hash(_ bytes: RawSpan) -> Digest {
        guard bytes.byteCount > chunkSize else {
            return singleChunk(bytes, key: initialisationVector, flags: 0)
        }
        var hasher = BLAKE3()
        hasher.update(bytes)
        return hasher.finalize()
    }

    /// The keyed digest of `bytes` in one call; up to 1,024 bytes allocate nothing.
    ///
    /// Those are hashed in registers and on the stack, for lookups: the caller clears both when its own work is done
    /// (``SecretMemory/WorkingMemory``).
    /// - Parameter key: 32 bytes.
    /// - Throws: ``CryptographyError/invalidSize``; above 1,024 bytes also ``CryptographyError/memory(_:)``.
    package static func keyedHash(_ bytes: RawSpan, key: RawSpan) throws(CryptographyError) -> Digest {
        let words = try keyWords(key)
        guard bytes.byteCount > chunkSize else {
            return singleChunk(bytes, key: words, flags: Flag.keyedHash)
        }
        var hasher = try BLAKE3(lockedWithKey: words, flags: Flag.keyedHash)
        hasher.update(bytes)
        return hasher.finalize()
    }

    /// The keyed digest of the first `count` of 64 bytes, of which the others are zero: for short inputs that the
    /// caller puts together anyway.
    /// - Parameter key: 32 bytes.
    /// - Throws: ``CryptographyError/invalidSize``.
    package static func keyedHash(
        padded block: RawSpan, count: Int, key: RawSpan
    ) throws(CryptographyError) -> Digest {
        guard block.byteCount == 64, 0...64 ~= count else { throw .invalidSize }
        let flags = Flag.keyedHash | Flag.chunkStart | Flag.chunkEnd | Flag.root
        return Digest(try compress(keyWords(key), block, at: 0, counter: 0, length: UInt32(count), flags: flags))
    }

    /// A 32-byte key for one purpose, from key material of any size (BLAKE3 paper, section 2.3).
    ///
    /// The material must be unguessable: this is no password hash.
    /// - Parameter context: A constant of the program, different for each use of the material.
    /// - Throws: ``CryptographyError/memory(_:)``.
    package static func deriveKey(
        context: String, material: borrowing SecretBytes, lifetime: SecretLifetime
    ) throws(CryptographyError) -> SecretBytes {
        var hasher = try BLAKE3(deriveKeyContext: context)
        material.withBytes { hasher.update($0) }
        do throws(SecretMemoryError) {
            return try SecretBytes(count: 32, lifetime: lifetime) { hasher.finalize(into: &$0) }
        } catch {
            throw .memory(error)
        }
    }

    @inline(__always)
    static func keyWords(_ key: RawSpan) throws(CryptographyError) -> ChainingValue {
        guard key.byteCount == 32 else { throw .invalidSize }
        return unsafe key.unsafeLoadUnaligned(as: ChainingValue.self)
    }

    /// The key that stands for a context; public, as the context is.
    static func contextKey(_ context: String) -> ChainingValue {
        var context = context
        return context.withUTF8 { utf8 in
            var hasher = BLAKE3(key: initialisationVector, flags: Flag.deriveKeyContext, memory: Memory())
            hasher.update(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(utf8)))
            return hasher.rootValue(hasher.rootOutput())
        }
    }

    @inline(__always)
    private static func singleChunk(_ bytes: RawSpan, key: ChainingValue, flags: UInt32) -> Digest {
        Digest(
            chunk(bytes, at: 0, count: bytes.byteCount, counter: 0, key: key, flags: flags, endFlags: Flag.root))
    }
}

extension BLAKE3 {
    /// What a hasher keeps between updates, outside the value so that moving it leaves no copy; wiped at the end.
    @safe struct Memory: ~Copyable, @unchecked Sendable {  // the one owner of its bytes
        static var key: Int { 0 }
        /// Of the current chunk, up to the block that waits.
        static var chainingValue: Int { 32 }
        static var block: Int { 64 }
        /// A node whose output is being computed: what its last block is compressed with, and that block.
        static var nodeValue: Int { 128 }
        static var nodeBlock: Int { 160 }
        static var stack: Int { 224 }
        /// 2^54 chunks make 2^64 bytes; one place more because siblings are merged late.
        private static var size: Int { stack + 55 * 32 }

        private let base: UnsafeMutableRawPointer
        /// Owns the bytes at `base`; nil when they are ordinary memory.
        private let locked: SecretBytes?

        /// Ordinary memory, for what is not secret.
        init() {
            unsafe base = .allocate(byteCount: Memory.size, alignment: 16)
            locked = nil
        }

        /// Locked memory.
        /// - Throws: ``SecretMemoryError`` when there is none left.
        static func locked() throws(SecretMemoryError) -> Memory {
            Memory(owning: try SecretBytes(zeroed: Memory.size))
        }

        private init(owning secret: consuming SecretBytes) {
            var secret = secret
            // The address outlives the closure: it is that of the secret's slot, which `locked` keeps until deinit.
            unsafe base = secret.withMutableBytes { bytes in
                unsafe bytes.withUnsafeMutableBytes { unsafe $0.baseAddress.unsafelyUnwrapped }
            }
            locked = consume secret
        }

        @inline(__always)
        func load<Value: BitwiseCopyable>(_ offset: Int) -> Value {
            unsafe base.load(fromByteOffset: offset, as: Value.self)
        }

        @inline(__always)
        func store<Value: BitwiseCopyable>(_ value: Value, at offset: Int) {
            unsafe base.storeBytes(of: value, toByteOffset: offset, as: Value.self)
        }

        /// Lends the 64 bytes at ``block`` or ``nodeBlock``.
        @inline(__always)
        func withBlock<R>(_ offset: Int = Memory.block, _ body: (RawSpan) -> R) -> R {
            unsafe body(RawSpan(_unsafeStart: base + offset, byteCount: 64))
        }

        /// Appends bytes to a block that waits.
        func copy(_ bytes: RawSpan, to offset: Int) {
            precondition(offset >= Memory.block && offset + bytes.byteCount <= Memory.block + 64)
            unsafe bytes.withUnsafeBytes { source in
                unsafe UnsafeMutableRawBufferPointer(start: base + offset, count: source.count).copyMemory(from: source)
            }
        }

        /// Copies bytes from one place to another, which do not overlap.
        @inline(__always)
        func move(_ count: Int, from source: Int, to target: Int) {
            unsafe (base + target).copyMemory(from: base + source, byteCount: count)
        }

        deinit {
            guard locked == nil else { return WorkingMemory.wipe() }
            unsafe Memory.wipeAndFree(base)
        }

        private static func wipeAndFree(_ base: UnsafeMutableRawPointer) {
            var bytes = unsafe MutableRawSpan(_unsafeStart: base, byteCount: size)
            bytes.wipe()
            unsafe base.deallocate()
        }
    }
}
