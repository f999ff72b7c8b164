package import SecretMemory

/// An incremental BLAKE3 hash in bounded memory, whatever the size of the input (BLAKE3 paper, sections 2.1 to 2.6).
///
/// The key, the input that waits and everything computed of them lie outside the value and are wiped when it ends: in
/// locked memory for the keyed modes, for deriving, and for the plain hash of a secret. Works through four chunks side
/// by side, so large updates are faster than small ones. It is no password hash: stretch a passcode with Argon2id
/// first.
package struct BLAKE3: ~Copyable, Sendable {
    let memory: Memory
    let flags: UInt32
    /// Whole chunks before the current one.
    var chunkCounter: UInt64 = 0
    /// Bytes taken into the current chunk, 0...1,024. The last 1...64 of them wait in the block buffer.
    var chunkLength = 0
    /// Subtrees that wait for their right sibling.
    var stackCount = 0

    /// The plain hash, for data that is not secret.
    package init() {
        self.init(key: Self.initialisationVector, flags: 0, memory: Memory())
    }

    /// The keyed mode: a MAC or a pseudo-random function (BLAKE3 paper, section 2.3).
    /// - Parameter key: 32 bytes.
    /// - Throws: ``CryptographyError/invalidSize``, ``CryptographyError/memory(_:)``.
    package init(key: borrowing SecretBytes) throws(CryptographyError) {
        let words = try key.withBytes { bytes throws(CryptographyError) in try Self.keyWords(bytes) }
        try self.init(lockedWithKey: words, flags: Flag.keyedHash)
    }

    /// The key derivation mode; the input is the key material (BLAKE3 paper, section 2.3).
    /// - Parameter deriveKeyContext: A constant of the program, different for each use of the material.
    /// - Throws: ``CryptographyError/memory(_:)``.
    package init(deriveKeyContext: String) throws(CryptographyError) {
        try self.init(lockedWithKey: Self.contextKey(deriveKeyContext), flags: Flag.deriveKeyMaterial)
    }

    /// The plain hash of an input that is secret.
    /// - Throws: ``CryptographyError/memory(_:)``.
    package static func ofSecret() throws(CryptographyError) -> BLAKE3 {
        try BLAKE3(lockedWithKey: initialisationVector, flags: 0)
    }

    /// The digest of all bytes so far; more may follow.
    package mutating func finalize() -> Digest {
        Digest(rootValue(rootOutput()))
    }

    /// Fills `output` with the first bytes of the extendable output, of which the digest is the first 32.
    package mutating func finalize(into output: inout MutableRawSpan) {
        write(rootOutput(), into: &output)
    }

    init(lockedWithKey key: ChainingValue, flags: UInt32) throws(CryptographyError) {
        do throws(SecretMemoryError) {
            self.init(key: key, flags: flags, memory: try Memory.locked())
        } catch {
            throw .memory(error)
        }
    }

    init(key: ChainingValue, flags: UInt32, memory: consuming Memory) {
        self.memory = memory
        self.flags = flags
        self.memory.store(key, at: Memory.key)
        self.memory.store(key, at: Memory.chainingValue)
    }
}

extension BLAKE3 {
    static var chunkSize: Int { 1024 }

    /// The value of one chunk, the 0...1,024 bytes at `offset` (BLAKE3 paper, section 2.4).
    /// - Parameter endFlags: For the last block only, as ``Flag/root`` when there is no other chunk.
    @inline(__always)
    static func chunk(
        _ bytes: RawSpan, at offset: Int, count: Int, counter: UInt64, key: ChainingValue, flags: UInt32,
        endFlags: UInt32 = 0
    ) -> ChainingValue {
        var value = key
        var flags = flags | Flag.chunkStart
        var offset = offset
        var rest = count
        while rest > 64 {
            value = compress(value, bytes, at: offset, counter: counter, length: 64, flags: flags)
            flags &= ~Flag.chunkStart
            offset += 64
            rest -= 64
        }
        flags |= Flag.chunkEnd | endFlags
        if rest == 64 { return compress(value, bytes, at: offset, counter: counter, length: 64, flags: flags) }
        let block = paddedBlock(bytes, at: offset, count: rest)
        return unsafe withUnsafeBytes(of: block) { padded in
            unsafe compress(
                value, RawSpan(_unsafeBytes: padded), at: 0, counter: counter, length: UInt32(rest), flags: flags)
        }
    }

    /// The 0...64 bytes at `offset`, filled up with zeros.
    @inline(__always)
    static func paddedBlock(_ bytes: RawSpan, at offset: Int, count: Int) -> SIMD16<UInt32> {
        var block = SIMD16<UInt32>()
        unsafe withUnsafeMutableBytes(of: &block) { target in
            unsafe bytes.extracting(offset..<(offset + count)).withUnsafeBytes { source in
                unsafe target.copyMemory(from: source)
            }
        }
        return block
    }
}

#if _endian(big)
#error("BLAKE3 loads its words as they lie in memory, which is right on little-endian machines only")
#endif

extension BLAKE3 {
    /// The last block of a node, kept back because only the end of the input tells whether it is the root. The block
    /// and what it is compressed with lie in the hasher's memory, filled up with zeros behind `length`.
    struct Output {
        var counter: UInt64
        var length: UInt32
        var flags: UInt32
    }

    /// What the parent of a node takes in.
    func nodeValue(_ output: Output) -> ChainingValue {
        memory.withBlock(Memory.nodeBlock) {
            BLAKE3.compress(
                memory.load(Memory.nodeValue), $0, at: 0, counter: output.counter, length: output.length,
                flags: output.flags)
        }
    }

    /// What the digest is made of when a node is the root.
    func rootValue(_ output: Output) -> ChainingValue {
        memory.withBlock(Memory.nodeBlock) {
            BLAKE3.compress(
                memory.load(Memory.nodeValue), $0, at: 0, counter: 0, length: output.length,
                flags: output.flags | Flag.root)
        }
    }

    /// Fills `target` with the extendable output of the root (BLAKE3 paper, section 2.6).
    func write(_ output: Output, into target: inout MutableRawSpan) {
        var offset = 0
        var index: UInt64 = 0
        while offset < target.byteCount {
            let count = min(64, target.byteCount - offset)
            target.withPart(offset..<offset + count) { writeRootBlock(index, output, into: &$0) }
            offset += count
            index += 1
        }
    }

    /// At most 64 bytes. Words one by one: no copy of the block is made.
    private func writeRootBlock(_ index: UInt64, _ output: Output, into target: inout MutableRawSpan) {
        let flags = output.flags | Flag.root
        let words = memory.withBlock(Memory.nodeBlock) {
            BLAKE3.compressToBlock(
                memory.load(Memory.nodeValue), $0, at: 0, counter: index, length: output.length, flags: flags)
        }
        for position in 0..<target.byteCount {
            let byte = UInt8(truncatingIfNeeded: words[position / 4] >> UInt32(8 * (position % 4)))
            target.storeBytes(of: byte, toByteOffset: position, as: UInt8.self)
        }
    }
}

extension Digest {
    @inline(__always)
    init(_ value: BLAKE3.ChainingValue) {
        self.init()
        withMutableBytes { $0.storeBytes(of: value, as: BLAKE3.ChainingValue.self) }
    }
}

extension BLAKE3 {
    /// Adds bytes to the input.
    package mutating func update(_ bytes: RawSpan) {
        let count = bytes.byteCount
        var offset = 0
        if chunkLength > 0 {
            offset = min(Self.chunkSize - chunkLength, count)
            fillChunk(bytes, 0..<offset)
            if offset == count { return }
            // More input follows, so this chunk cannot be the root.
            push(nodeValue(chunkOutput()), before: chunkCounter)
            memory.store(key, at: Memory.chainingValue)
            chunkCounter += 1
            chunkLength = 0
        }
        while count - offset > Self.chunkSize {
            let chunks = subtreeSize(available: (count - offset) / Self.chunkSize)
            if chunks == 1 {
                let value = Self.chunk(
                    bytes, at: offset, count: Self.chunkSize, counter: chunkCounter, key: key, flags: flags)
                push(value, before: chunkCounter)
            } else {
                // Two halves and not their parent: should the input end here, that parent is the root.
                let halves = Self.subtree(
                    bytes, at: offset, chunks: chunks, counter: chunkCounter, key: key, flags: flags)
                push(halves.left, before: chunkCounter)
                push(halves.right, before: chunkCounter + UInt64(chunks / 2))
            }
            chunkCounter += UInt64(chunks)
            offset += chunks * Self.chunkSize
        }
        guard offset < count else { return }
        merge(before: chunkCounter)
        fillChunk(bytes, offset..<count)
    }

    /// The last node: the current chunk joined with every waiting subtree (BLAKE3 paper, section 2.5).
    mutating func rootOutput() -> Output {
        var output: Output
        var waiting = stackCount
        if chunkLength > 0 || stackCount == 0 {
            output = chunkOutput()
        } else {
            waiting -= 2
            output = parentOutput(waiting, memory.load(Memory.stack + 32 * (waiting + 1)))
        }
        while waiting > 0 {
            waiting -= 1
            output = parentOutput(waiting, nodeValue(output))
        }
        return output
    }

    /// The parent of a waiting subtree and its right sibling.
    private func parentOutput(_ left: Int, _ right: ChainingValue) -> Output {
        memory.move(32, from: Memory.key, to: Memory.nodeValue)
        memory.move(32, from: Memory.stack + 32 * left, to: Memory.nodeBlock)
        memory.store(right, at: Memory.nodeBlock + 32)
        return Output(counter: 0, length: 64, flags: flags | Flag.parent)
    }

    // MARK: Current chunk

    private mutating func fillChunk(_ bytes: RawSpan, _ range: Range<Int>) {
        guard !range.isEmpty else { return }
        var offset = range.lowerBound
        if chunkLength > 0 {
            let waiting = bufferedLength
            let taken = min(64 - waiting, range.count)
            memory.copy(bytes.extracting(offset..<(offset + taken)), to: Memory.block + waiting)
            chunkLength += taken
            offset += taken
            if offset == range.upperBound { return }
            memory.withBlock { [position = chunkLength - 64] in compressBlock($0, at: 0, position: position) }
        }
        while range.upperBound - offset > 64 {
            compressBlock(bytes, at: offset, position: chunkLength)
            chunkLength += 64
            offset += 64
        }
        let rest = range.upperBound - offset
        memory.store(SIMD16<UInt32>(), at: Memory.block)
        memory.copy(bytes.extracting(offset..<range.upperBound), to: Memory.block)
        chunkLength += rest
    }

    /// - Parameter position: Bytes of the current chunk before this block.
    private func compressBlock(_ bytes: RawSpan, at offset: Int, position: Int) {
        let start = position == 0 ? Flag.chunkStart : 0
        let value = Self.compress(
            memory.load(Memory.chainingValue), bytes, at: offset, counter: chunkCounter, length: 64,
            flags: flags | start)
        memory.store(value, at: Memory.chainingValue)
    }

    private func chunkOutput() -> Output {
        let start = chunkLength <= 64 ? Flag.chunkStart : 0
        memory.move(32, from: Memory.chainingValue, to: Memory.nodeValue)
        if chunkLength == 0 {
            memory.store(SIMD16<UInt32>(), at: Memory.nodeBlock)
        } else {
            memory.move(64, from: Memory.block, to: Memory.nodeBlock)
        }
        return Output(
            counter: chunkCounter, length: UInt32(bufferedLength), flags: flags | start | Flag.chunkEnd)
    }

    /// Bytes of the current chunk that wait in the block buffer; a full block waits too, it may be the last.
    private var bufferedLength: Int { chunkLength == 0 ? 0 : (chunkLength - 1) % 64 + 1 }

    // MARK: Subtrees

    /// The largest complete subtree, in chunks, that may start here.
    private func subtreeSize(available: Int) -> Int {
        let fitting = 1 << (Int.bitWidth - 1 - available.leadingZeroBitCount)
        let aligned = chunkCounter == 0 ? Self.subtreeLimit : 1 << min(chunkCounter.trailingZeroBitCount, 5)
        return min(fitting, aligned, Self.subtreeLimit)
    }

    /// Adds a node that `chunks` chunks precede.
    private mutating func push(_ node: ChainingValue, before chunks: UInt64) {
        merge(before: chunks)
        memory.store(node, at: Memory.stack + 32 * stackCount)
        stackCount += 1
    }

    /// Joins every complete pair among the first `chunks` chunks, now that more input follows them.
    // Not done as soon as a pair is complete: its parent may be the root, which is hashed differently.
    private mutating func merge(before chunks: UInt64) {
        while stackCount > chunks.nonzeroBitCount {
            stackCount -= 2
            let parent = parentOutput(stackCount, memory.load(Memory.stack + 32 * (stackCount + 1)))
            memory.store(nodeValue(parent), at: Memory.stack + 32 * stackCount)
            stackCount += 1
        }
    }

    private var key: ChainingValue { memory.load(Memory.key) }
}
