internal import SecretMemory

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
