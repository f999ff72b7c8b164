import Testing
import VaultFormat

@Suite struct HeaderTests {
    private let bytes = Sample.headerBytes

    private func parse(_ bytes: [UInt8]) throws(FormatError) -> Header {
        try Header(parsing: bytes, checksum: testChecksum)
    }

    private func error(_ bytes: [UInt8]) -> FormatError? {
        formatError { () throws(FormatError) in _ = try parse(bytes) }
    }

    /// Offsets of the parts of the sample.
    private let policyOffset = 52
    private var keybagOffset: Int { policyOffset + 2 + Sample.policyBytes.count }
    private var slotCountOffset: Int { keybagOffset + 2 + 200 }

    @Test func bytesAreThoseOfTheDocument() throws {
        #expect(try Sample.header.encoded(checksum: testChecksum) == bytes)
        #expect(try parse(bytes) == Sample.header)
        #expect(try Sample.header.authenticatedBytes() == Array(bytes.prefix(8128)))
        #expect(bytes.count == Header.copySize && Header.fileSize == 16384)
    }

    @Test func anEmptyHeaderRoundTrips() throws {
        let header = Header(
            vault: Sample.vault, generation: 0, created: 0, epoch: 0, policy: .standard, sealedKeybag: [], slots: [])
        #expect(try parse(header.encoded(checksum: testChecksum)) == header)
        #expect(header.passcodeSlot == nil && header.recoverySlot == nil)
    }

    @Test func theLargestHeaderRoundTrips() throws {
        var header = Sample.header
        header.sealedKeybag = repeated(0x55, 4096)
        header.slots = (0..<16).map { id in
            var slot = Sample.unknownSlot
            slot.id = UInt8(id)
            slot.kindData = []
            return slot
        }
        header.generation = (1 << 62) - 1
        header.created = .max
        header.epoch = (1 << 30) - 1
        #expect(try parse(header.encoded(checksum: testChecksum)) == header)
        let full = header
        header.slots.append(Sample.recoverySlot)
        #expect(throws: FormatError.headerFull) { try header.encoded(checksum: testChecksum) }
        header = full
        header.sealedKeybag.append(0)
        #expect(throws: FormatError.headerFull) { try header.encoded(checksum: testChecksum) }
        header = full
        for index in 0..<3 { header.slots[index].kindData = repeated(1, 1024) }
        #expect(throws: FormatError.headerFull) { try header.encoded(checksum: testChecksum) }
    }

    @Test func slotsAreReplacedByIdAndOrdered() {
        var header = Sample.header
        var slot = Sample.recoverySlot
        slot.salt = repeated(9, 16)
        header.set(slot)
        #expect(header.slots.map(\.id) == [1, 2, 200] && header.recoverySlot?.salt == repeated(9, 16))
        slot.id = 0
        header.set(slot)
        #expect(header.slots.map(\.id) == [0, 1, 2, 200] && header.passcodeSlot?.id == 1)
    }

    @Test func everyOtherSizeIsRefused() {
        for count in 0..<bytes.count where error(Array(bytes.prefix(count))) != .wrongSize {
            Issue.record("\(count) bytes were taken")
        }
        #expect(error(bytes + [0]) == .wrongSize)
        #expect(error(bytes + bytes) == .wrongSize)
    }

    @Test func everyFlippedByteIsFound() {
        for offset in bytes.indices {
            let found = error(bytes.with(bytes[offset] ^ UInt8(1 << (offset % 8)), at: offset))
            let expected: FormatError = offset < 8 ? .wrongMagic : .checksumMismatch
            if found != expected { Issue.record("offset \(offset): \(String(describing: found))") }
        }
    }

    /// With the checksum made right a change must be refused, or read as what it says: no two encodings of one header.
    @Test(arguments: [0x01, 0x80, 0xFF] as [UInt8])
    func everyFlippedByteWithARightChecksumIsCanonical(mask: UInt8) throws {
        for offset in bytes.indices.dropLast(32) {
            let changed = bytes.with(bytes[offset] ^ mask, at: offset).resummed
            do throws(FormatError) {
                let header = try parse(changed)
                #expect(try header.encoded(checksum: testChecksum) == changed, "offset \(offset)")
                #expect(header != Sample.header, "offset \(offset) is ignored")
            } catch {
                #expect(offset != 8 || error == .newerVersion(UInt32(1 ^ mask)) || mask == 1)
            }
        }
    }

    @Test func aNewerVersionIsNamed() {
        for version: UInt32 in [2, 3, 256, 0x0100_0000, .max] {
            #expect(error(bytes.replacing(at: 8, with: little(version)).resummed) == .newerVersion(version))
            // Whatever a newer version holds behind it, and never without a right checksum.
            let other = Array(bytes.prefix(8)) + little(version) + repeated(0xEE, 8192 - 12)
            #expect(error(other.resummed) == .newerVersion(version))
            #expect(error(other) == .checksumMismatch)
        }
        #expect(error(bytes.replacing(at: 8, with: little(UInt32(0))).resummed) == .invalid(field: "format version"))
    }

    @Test func reservedBitsAndBytesAreZero() {
        for (offset, byte) in [(12, 3), (13, 1)] as [(Int, UInt8)] {
            #expect(error(bytes.with(byte, at: offset).resummed) == .invalid(field: "header flags"))
        }
        #expect(error(bytes.with(0, at: 14).resummed) == .unreleased, "of a build from before the first release")
        for (offset, byte) in [(14, 2), (15, 0x80)] as [(Int, UInt8)] {
            #expect(error(bytes.with(byte, at: offset).resummed) == .invalid(field: "header revision"))
        }
        #expect(error(bytes.with(1, at: 8035).resummed) == .invalid(field: "header padding"))
        #expect(error(bytes.with(1, at: 7000).resummed) == .invalid(field: "header padding"))
    }

    @Test func hugeLengthsAreRefused() {
        let huge = [0xFF, 0xFF] as [UInt8]
        #expect(error(bytes.replacing(at: policyOffset, with: huge).resummed) == .invalid(field: "policy"))
        #expect(error(bytes.replacing(at: keybagOffset, with: huge).resummed) == .invalid(field: "keybag"))
        #expect(error(bytes.replacing(at: keybagOffset, with: [0x01, 0x10]).resummed) == .invalid(field: "keybag"))
        #expect(error(bytes.with(17, at: slotCountOffset).resummed) == .invalid(field: "slot count"))
        #expect(error(bytes.with(255, at: slotCountOffset).resummed) == .invalid(field: "slot count"))
        #expect(error(bytes.replacing(at: slotCountOffset + 1, with: huge).resummed) == .invalid(field: "slot"))
        #expect(error(bytes.replacing(at: slotCountOffset + 1, with: [0, 0x20]).resummed) == .wrongSize)
        #expect(error(Sample.copy(counted(Sample.policyBytes) + counted(repeated(1, 4096)) + [0])) == nil)
        #expect(
            error(Sample.copy(counted(Sample.policyBytes) + counted(repeated(1, 4097)) + [0]))
                == .invalid(field: "keybag"))
    }

    @Test func slotsOfOneIdAndSecondPasscodesAreRefused() {
        let front = counted(Sample.policyBytes) + counted([])
        let twice = front + [2] + counted(Sample.recoverySlotBytes) + counted(Sample.recoverySlotBytes)
        #expect(error(Sample.copy(twice)) == .invalid(field: "slots"))
        let second = Sample.passcodeSlotBytes.with(7, at: 0)
        let passcodes = front + [2] + counted(Sample.passcodeSlotBytes) + counted(second)
        #expect(error(Sample.copy(passcodes)) == .invalid(field: "slots"))
        let reversed = front + [2] + counted(Sample.recoverySlotBytes) + counted(Sample.passcodeSlotBytes)
        #expect(error(Sample.copy(reversed)) == nil, "the order of slots is the writer's")
    }
}
