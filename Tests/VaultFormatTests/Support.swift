import Foundation
import TestSupport
import Testing
import VaultFormat

/// 32 bytes that change with every byte of the input; stands for BLAKE3, which this pure target does not have.
func testChecksum(_ bytes: RawSpan) -> [UInt8] {
    var state: UInt64 = 0x9e37_79b9_7f4a_7c15 ^ UInt64(bytes.byteCount)
    var offset = 0
    while offset < bytes.byteCount {
        var word: UInt64 = 0
        if bytes.byteCount - offset >= 8 {
            word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
        } else {
            for index in offset..<bytes.byteCount {
                word = word << 8 | UInt64(unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))
            }
        }
        // Each step is a bijection of the word, so no single change is lost.
        state = (state ^ word) &* 0xbf58_476d_1ce4_e5b9
        state ^= state >> 29
        offset += 8
    }
    return (0..<32).map { UInt8(truncatingIfNeeded: (state &* UInt64(2 * $0 + 1)) >> 56) }
}

extension [UInt8] {
    /// Lends the bytes for writing.
    mutating func lendForWriting<R, E: Error>(_ body: (inout MutableRawSpan) throws(E) -> R) throws(E) -> R {
        var elements = mutableSpan
        var bytes = unsafe elements.mutableBytes
        return try body(&bytes)
    }

    /// With the last 32 bytes made the checksum of those before them.
    var resummed: [UInt8] {
        let covered = Array(prefix(Swift.max(0, count - 32)))
        return covered + covered.lend(testChecksum)
    }

    func with(_ byte: UInt8, at offset: Int) -> [UInt8] {
        var copy = self
        copy[offset] = byte
        return copy
    }

    func replacing(at offset: Int, with bytes: [UInt8]) -> [UInt8] {
        var copy = self
        copy.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        return copy
    }
}

/// A little-endian integer, written as Docs/vault-format.md says and not with the code under test.
func little(_ value: some FixedWidthInteger) -> [UInt8] {
    (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
}

func counted(_ bytes: [UInt8]) -> [UInt8] { little(UInt16(bytes.count)) + bytes }

func repeated(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }

/// The format error that `body` throws; nil when it throws none.
func formatError(_ body: () throws(FormatError) -> Void) -> FormatError? {
    do throws(FormatError) {
        try body()
        return nil
    } catch {
        return error
    }
}
