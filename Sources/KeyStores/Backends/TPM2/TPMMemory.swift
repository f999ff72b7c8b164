internal import CTSS2
internal import SecretMemory

/// One zeroed C structure at an address of its own. The stack's structures hold arrays of up to 2 KiB, which must never
/// be loaded as a value: the compiler then takes them apart byte by byte.
@safe struct Structure<T>: ~Copyable {
    let pointer: UnsafeMutablePointer<T>

    init(_: T.Type = T.self) {
        unsafe pointer = UnsafeMutablePointer<T>.allocate(capacity: 1)
        unsafe UnsafeMutableRawPointer(pointer).initializeMemory(
            as: UInt8.self, repeating: 0, count: MemoryLayout<T>.size)
    }

    deinit { unsafe pointer.deallocate() }
}

/// The same in locked memory, wiped when its owner goes.
@safe struct SecretStructure<T>: ~Copyable {
    private var bytes: SecretBytes

    init(_: T.Type = T.self) throws(SecretMemoryError) { bytes = try SecretBytes(zeroed: MemoryLayout<T>.size) }

    mutating func withPointer<R, E: Error>(_ body: (UnsafeMutablePointer<T>) throws(E) -> R) throws(E) -> R {
        try bytes.withMutableBytes { bytes throws(E) in
            try unsafe bytes.withUnsafeMutableBytes { buffer throws(E) in
                // because: the arena aligns to 16 bytes, and an empty structure does not exist
                try unsafe body(buffer.baseAddress!.assumingMemoryBound(to: T.self))
            }
        }
    }
}

extension UnsafeMutablePointer {
    /// Where a stored member lies. A path through a union has no offset: take the union, then its member.
    func member<V>(_ path: KeyPath<Pointee, V>) -> UnsafeMutablePointer<V> {
        guard let offset = MemoryLayout<Pointee>.offset(of: path) else { preconditionFailure("no stored member") }
        return unsafe (UnsafeMutableRawPointer(self) + offset).assumingMemoryBound(to: V.self)
    }

    /// The member of a union, which lies where the union lies.
    func alternative<V>(_: V.Type) -> UnsafeMutablePointer<V> {
        unsafe UnsafeMutableRawPointer(self).assumingMemoryBound(to: V.self)
    }
}

/// The sized buffers (`TPM2B_...`): a 16-bit size, then the bytes.
protocol SizedBuffer { static var capacity: Int { get } }
extension TPM2B_DIGEST: SizedBuffer { static var capacity: Int { 64 } }
extension TPM2B_MAX_NV_BUFFER: SizedBuffer { static var capacity: Int { 2048 } }
extension TPM2B_NAME: SizedBuffer { static var capacity: Int { 68 } }
extension TPM2B_ECC_PARAMETER: SizedBuffer { static var capacity: Int { 128 } }
extension TPM2B_SENSITIVE_DATA: SizedBuffer { static var capacity: Int { 256 } }

extension UnsafeMutablePointer where Pointee: SizedBuffer {
    /// Where the bytes begin.
    private var content: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(self) + 2 }

    /// Copies `source` into the buffer; false when it is too large.
    func store(_ source: RawSpan) -> Bool {
        guard source.byteCount <= Pointee.capacity else { return false }
        unsafe UnsafeMutableRawPointer(self).storeBytes(of: UInt16(source.byteCount), as: UInt16.self)
        unsafe source.withUnsafeBytes { source in
            if let base = source.baseAddress { unsafe content.copyMemory(from: base, byteCount: source.count) }
        }
        return true
    }

    func store(_ source: [UInt8]) -> Bool { unsafe store(source.span.bytes) }

    /// Lends the bytes. Peer input: never more than the buffer has.
    func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        let count = unsafe min(Int(UnsafeMutableRawPointer(self).load(as: UInt16.self)), Pointee.capacity)
        return try unsafe body(RawSpan(_unsafeStart: content, byteCount: count))
    }

    var array: [UInt8] {
        unsafe withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    }
}
