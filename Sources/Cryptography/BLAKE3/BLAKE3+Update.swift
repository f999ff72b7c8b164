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
