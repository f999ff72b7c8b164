internal import CZlib
package import SecretMemory

/// How compressed bytes are wrapped.
package enum DeflateForm: Sendable {
    /// Not at all (RFC 1951).
    case raw
    /// As one gzip member (RFC 1952).
    case gzip

    /// The size of the window; the sign and 16 more tell zlib the form.
    var windowBits: Int32 { self == .raw ? -15 : 15 + 16 }
}

/// Why nothing was compressed or decompressed.
package enum GzipError: Error, Sendable, Hashable {
    /// It is no such stream, was changed, or is cut off.
    case damaged
    /// Something follows the stream.
    case trailing
    /// The output would be larger than allowed.
    case tooLarge
    /// Locked memory for the output is exhausted.
    case memory(SecretMemoryError)
    /// The library failed: no memory.
    case unavailable
}

extension SecretBuffer {
    /// Bytes that are decompressed at once.
    private static var blockSize: Int { 65_536 }

    /// Appends what a compressed stream stands for, which is all of `bytes`. Everything that zlib writes, its own
    /// memory too, is locked and wiped. Of a gzip member zlib compares the checksum and the length.
    /// - Throws: ``GzipError``; `tooLarge` beyond ``limit``. Some of it may have been appended.
    package mutating func append(inflating bytes: RawSpan, _ form: DeflateForm) throws(GzipError) {
        guard bytes.byteCount < Int(UInt32.max) else { throw .tooLarge }
        guard let inflater = Inflater(windowBits: form.windowBits, memory: LockedBlocks()) else { throw .unavailable }
        var block: SecretBytes
        do throws(SecretMemoryError) { block = try SecretBytes(zeroed: SecretBuffer.blockSize) } catch {
            throw .memory(error)
        }
        try unsafe bytes.withUnsafeBytes { source throws(GzipError) in
            unsafe inflater.begin(source)
            var status = Z_OK
            while status == Z_OK {
                let written: Int
                (written, status) = block.withMutableBytes { block in
                    unsafe block.withUnsafeMutableBytes { unsafe inflater.go(Z_NO_FLUSH, into: $0) }
                }
                try append(block, written)
            }
            guard status == Z_STREAM_END else { throw status == Z_MEM_ERROR ? .unavailable : .damaged }
        }
        guard inflater.rest == 0 else { throw .trailing }
    }

    private mutating func append(_ block: borrowing SecretBytes, _ count: Int) throws(GzipError) {
        guard count <= limit - self.count else { throw .tooLarge }
        do throws(SecretMemoryError) {
            try block.withBytes { bytes throws(SecretMemoryError) in try append(bytes.extracting(0..<count)) }
        } catch {
            throw .memory(error)
        }
    }
}

/// Memory for zlib itself, locked, and wiped when zlib gives it back: it holds the last 32 KiB of what was
/// decompressed.
@safe final class LockedBlocks {
    private final class Block {
        var bytes: SecretBytes
        init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
    }

    private var blocks: [UnsafeMutableRawPointer: Block] = unsafe [:]

    /// How many zlib has now.
    var count: Int { unsafe blocks.count }

    /// Has a stream take its memory here; whoever owns the stream keeps this object.
    @unsafe func serve(_ stream: UnsafeMutablePointer<z_stream>) {
        unsafe stream.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
        unsafe stream.pointee.zalloc = { owner, items, size in
            guard let owner = unsafe owner else { return nil }
            let blocks = unsafe Unmanaged<LockedBlocks>.fromOpaque(owner).takeUnretainedValue()
            return unsafe blocks.allocate(Int(items) * Int(size))
        }
        unsafe stream.pointee.zfree = { owner, address in
            guard let owner = unsafe owner, let address = unsafe address else { return }
            unsafe Unmanaged<LockedBlocks>.fromOpaque(owner).takeUnretainedValue().blocks[address] = nil
        }
    }

    private func allocate(_ count: Int) -> UnsafeMutableRawPointer? {
        // A multiple of 16, so that every allocator aligns it.
        guard let bytes = try? SecretBytes(zeroed: (count + 15) & ~15) else { return nil }
        let block = Block(bytes)
        // The bytes stay where they are for as long as their owner lives.
        let start = unsafe block.bytes.withMutableBytes { bytes in
            unsafe bytes.withUnsafeMutableBytes { $0.baseAddress }
        }
        guard let start = unsafe start else { return nil }
        unsafe blocks[start] = block
        return unsafe start
    }
}

/// The checksum of gzip and ZIP (RFC 1952, section 8).
package func crc32(_ bytes: RawSpan) -> UInt32 {
    unsafe bytes.withUnsafeBytes { bytes in
        unsafe UInt32(
            truncatingIfNeeded: crc32_z(0, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count))
    }
}
