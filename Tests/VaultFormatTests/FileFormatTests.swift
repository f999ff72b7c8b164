import TestSupport
import Testing
import VaultFormat

@Suite struct FileFormatTests {
    private func nonce(_ chunk: UInt64, _ isLast: Bool) -> [UInt8] {
        var bytes = repeated(0xFF, 12)
        bytes.lendForWriting { FileFormat.writeNonce(chunk: chunk, isLast: isLast, into: &$0) }
        return bytes
    }

    @Test func noncesAreThoseOfTheDocument() {
        #expect(nonce(0, false) == repeated(0, 12))
        #expect(nonce(0, true) == repeated(0, 11) + [1])
        #expect(nonce(0x0102_0304_0506_0708, true) == [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 1])
        #expect(nonce(.max, false) == [0, 0, 0] + repeated(0xFF, 8) + [0])
    }

    @Test func noTwoChunksShareANonce() {
        var seen: Set<[UInt8]> = []
        let numbers: [UInt64] = Array(0..<1000) + [255, 256, 65_535, 65_536, 1 << 32, .max].filter { $0 >= 1000 }
        for number in numbers {
            for isLast in [false, true] { #expect(seen.insert(nonce(number, isLast)).inserted) }
        }
    }

    @Test func sizesAreThoseOfTheDocument() {
        let chunk: UInt64 = 65_536
        for (length, chunks) in [
            (0, 1), (1, 1), (chunk - 1, 1), (chunk, 1), (chunk + 1, 2), (2 * chunk, 2), (2 * chunk + 1, 3),
            (.max, 1 << 48),
        ] as [(UInt64, UInt64)] {
            #expect(FileFormat.chunks(length: length) == chunks)
        }
        #expect(FileFormat.sizeOnDisk(length: 0) == 24)
        #expect(FileFormat.sizeOnDisk(length: chunk) == 8 + chunk + 16)
        #expect(FileFormat.sizeOnDisk(length: chunk + 1) == 8 + chunk + 1 + 32)
        #expect(FileFormat.sizeOnDisk(length: .max) == nil)
        #expect(FileFormat.sizeOnDisk(length: .max - 24) == nil)
        #expect(FileFormat.magic == [0x48, 0x46, 0x46, 0x49, 0x4C, 0x45, 0, 1])
        #expect(FileFormat.chunkSize == 65_536 && FileFormat.tagSize == 16)
    }

    /// The largest length whose size on disk fits 64 bits, found by halving, and its neighbour.
    @Test func theSizeOnDiskNeverWraps() throws {
        var low: UInt64 = 0
        var high = UInt64.max
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if FileFormat.sizeOnDisk(length: middle) == nil { high = middle } else { low = middle }
        }
        let size = try #require(FileFormat.sizeOnDisk(length: low))
        #expect(size > low && size > UInt64.max - 64 && FileFormat.sizeOnDisk(length: low + 1) == nil)
    }

    @Test func descriptorsAreThoseOfTheDocument() throws {
        let id = Array(0x60...0x6F) as [UInt8]
        let bytes = id + little(UInt64(0x0102_0304_0506_0708)) + repeated(0x77, 32)
        let descriptor = try bytes.lend { bytes throws(FormatError) in try FileDescriptor(parsing: bytes) }
        #expect(descriptor == FileDescriptor(id: id, length: 0x0102_0304_0506_0708))
        #expect(descriptor.fileName == "606162636465666768696a6b6c6d6e6f")
        #expect(Array(bytes[FileDescriptor.keyRange]) == repeated(0x77, 32))
        var written = repeated(0x77, FileDescriptor.size)
        written.lendForWriting { descriptor.write(into: &$0) }
        #expect(written == bytes)
    }

    @Test func everyOtherDescriptorSizeIsRefused() {
        for count in Array(0..<56) + [57, 112] {
            #expect(throws: FormatError.invalid(field: "file record")) {
                try repeated(1, count).lend { bytes throws(FormatError) in _ = try FileDescriptor(parsing: bytes) }
            }
        }
    }
}

@Suite struct HexadecimalTests {
    @Test func onlyLowerCasePairsAreRead() {
        let all = Array(UInt8.min...UInt8.max)
        #expect(Hexadecimal.decode(Hexadecimal.encode(all)) == all)
        #expect(Hexadecimal.encode([0, 0x0F, 0xA0, 0xFF]) == "000fa0ff")
        #expect(Hexadecimal.decode("") == [])
        for text in ["0", "0F", "g0", "0x", " 0", "0\n", "é", "００", "-1"] { #expect(Hexadecimal.decode(text) == nil) }
    }

    @Test func aVaultHasSixteenBytes() throws {
        #expect(VaultID(bytes: repeated(1, 15)) == nil && VaultID(bytes: repeated(1, 17)) == nil)
        #expect(VaultID(bytes: []) == nil)
        #expect(Sample.vault.description == "101112131415161718191a1b1c1d1e1f")
    }
}
