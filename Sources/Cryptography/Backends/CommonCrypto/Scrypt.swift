#if canImport(CryptoKit)
package import SecretMemory
internal import SystemCalls

/// scrypt (RFC 7914). No system library of Apple's has it.
package enum Scrypt {
    /// Working memory that a derivation may take, in bytes.
    private static let memory = 1 << 30

    /// - Parameters:
    ///   - cost: N, a power of two.
    ///   - block: r.
    ///   - lanes: p.
    /// - Throws: ``CryptographyError/invalidSize`` also when more than 1 GiB were needed,
    ///   ``CryptographyError/memory(_:)``, ``CryptographyError/library(code:)``.
    package static func derive(
        _ password: borrowing SecretBytes, salt: RawSpan, cost: Int, block: Int, lanes: Int, count: Int
    ) throws(CryptographyError) -> SecretBytes {
        guard cost > 1, cost & (cost - 1) == 0, (1...1024).contains(block), (1...1024).contains(lanes),
            (1...1024).contains(count), cost <= memory / (128 * block)
        else { throw .invalidSize }
        defer { WorkingMemory.wipe() }
        var blocks = try PBKDF2SHA256.derive(password, salt: salt, rounds: 1, count: 128 * block * lanes)
        let words = 32 * block
        // Twice one lane beside the table: what is mixed, and where it goes.
        guard let table = ScryptTable(words: words * (cost + 2)) else { throw .memory(.derivationOutOfMemory) }
        blocks.withMutableBytes { blocks in
            unsafe blocks.withUnsafeMutableBytes { blocks in
                for lane in 0..<lanes {
                    let part = lane * 4 * words..<(lane + 1) * 4 * words
                    unsafe table.mix(
                        UnsafeMutableRawBufferPointer(rebasing: blocks[part]), words: words, cost: cost)
                }
            }
        }
        return try blocks.withBytes { blocks throws(CryptographyError) in
            try PBKDF2SHA256.derive(password, salt: blocks, rounds: 1, count: count)
        }
    }
}

/// The memory of ROMix (RFC 7914, section 5), wiped before it is given back.
@safe private struct ScryptTable: ~Copyable {
    private let words: UnsafeMutableBufferPointer<UInt32>

    /// Nil where the system has no such memory.
    init?(words count: Int) {
        let flags = Int32(MAP_PRIVATE) | Int32(MAP_ANONYMOUS)
        guard let pages = unsafe mmap(nil, 4 * count, PROT_READ | PROT_WRITE, flags, -1, 0), unsafe pages != MAP_FAILED
        else { return nil }
        unsafe words = UnsafeMutableBufferPointer(
            start: pages.bindMemory(to: UInt32.self, capacity: count), count: count)
    }

    deinit {
        var span = unsafe MutableRawSpan(_unsafeBytes: UnsafeMutableRawBufferPointer(words))
        span.wipe()
        unsafe _ = munmap(words.baseAddress, 4 * words.count)
    }

    /// ROMix of one lane.
    borrowing func mix(_ lane: UnsafeMutableRawBufferPointer, words count: Int, cost: Int) {
        let table = unsafe words
        let (current, spare) = (count * cost, count * (cost + 1))
        for index in 0..<count {
            unsafe table[current + index] = UInt32(
                littleEndian: lane.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
        }
        for row in 0..<cost {
            for index in 0..<count { unsafe table[row * count + index] = table[current + index] }
            mixBlocks(current, spare, count)
        }
        for _ in 0..<cost {
            let row = unsafe Int(table[current + count - 16]) & (cost - 1)
            for index in 0..<count { unsafe table[current + index] ^= table[row * count + index] }
            mixBlocks(current, spare, count)
        }
        for index in 0..<count {
            unsafe lane.storeBytes(of: table[current + index].littleEndian, toByteOffset: 4 * index, as: UInt32.self)
        }
    }

    /// BlockMix (RFC 7914, section 4): even blocks come first.
    private borrowing func mixBlocks(_ current: Int, _ spare: Int, _ count: Int) {
        let table = unsafe words
        var state = InlineArray<16, UInt32>(repeating: 0)
        for word in 0..<16 { state[word] = unsafe table[current + count - 16 + word] }
        let half = count / 2
        for (number, start) in stride(from: 0, to: count, by: 16).enumerated() {
            for word in 0..<16 { state[word] ^= unsafe table[current + start + word] }
            Salsa20.mix(&state, doubleRounds: 4)
            let place = spare + (number & 1) * half + (number >> 1) * 16
            for word in 0..<16 { unsafe table[place + word] = state[word] }
        }
        for index in 0..<count { unsafe table[current + index] = table[spare + index] }
    }
}
#endif
