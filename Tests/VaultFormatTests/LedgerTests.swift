import Testing
import VaultFormat

@Suite struct LedgerTests {
    private let bytes = Sample.sectorBytes

    private func parse(_ bytes: [UInt8]) throws(FormatError) -> LedgerSector {
        try LedgerSector(parsing: bytes, checksum: testChecksum)
    }

    private func error(_ bytes: [UInt8]) -> FormatError? {
        formatError { () throws(FormatError) in _ = try parse(bytes) }
    }

    @Test func bytesAreThoseOfTheDocument() throws {
        #expect(Sample.sector.encoded(checksum: testChecksum) == bytes)
        #expect(try parse(bytes) == Sample.sector)
        #expect(bytes.count == LedgerSector.size && LedgerSector.fileSize == 8192)
    }

    @Test func theGreatestValuesRoundTrip() throws {
        var sector = Sample.sector
        sector.spent = (1 << 20) - 1
        sector.refused = (1 << 20) - 1
        sector.sequence = (1 << 62) - 1
        sector.delay = 3_600_000
        sector.delayStart = .max
        #expect(try parse(sector.encoded(checksum: testChecksum)) == sector)
    }

    @Test func everyOtherSizeIsRefused() {
        for count in 0..<bytes.count where error(Array(bytes.prefix(count))) != .wrongSize {
            Issue.record("\(count) bytes were taken")
        }
        #expect(error(bytes + [0]) == .wrongSize)
    }

    @Test func everyFlippedByteIsFound() {
        for offset in bytes.indices {
            let found = error(bytes.with(bytes[offset] ^ UInt8(1 << (offset % 8)), at: offset))
            if found != .checksumMismatch { Issue.record("offset \(offset): \(String(describing: found))") }
        }
    }

    @Test(arguments: [0x01, 0x80, 0xFF] as [UInt8])
    func everyFlippedByteWithARightChecksumIsCanonical(mask: UInt8) {
        for offset in bytes.indices.dropLast(32) {
            let changed = bytes.with(bytes[offset] ^ mask, at: offset).resummed
            guard let sector = try? parse(changed) else { continue }
            if sector.encoded(checksum: testChecksum) != changed || sector == Sample.sector {
                Issue.record("offset \(offset) is not canonical")
            }
        }
    }

    @Test func fieldsOutsideTheirRangesAreRefused() {
        #expect(error(bytes.with(0x68, at: 0).resummed) == .wrongMagic)
        #expect(error(bytes.with(2, at: 8).resummed) == .newerVersion(2))
        #expect(error(bytes.with(0, at: 8).resummed) == .newerVersion(0), "any other version is damage to the ledger")
        #expect(error(bytes.with(5, at: 40).resummed) == .invalid(field: "ledger counts"), "more refused than spent")
        #expect(error(bytes.with(4, at: 40).resummed) == nil)
        #expect(
            error(bytes.replacing(at: 44, with: little(UInt64(3_600_001))).resummed)
                == .invalid(field: "ledger counts"))
        #expect(error(bytes.replacing(at: 44, with: little(UInt64.max)).resummed) == .invalid(field: "ledger counts"))
        #expect(error(bytes.with(1, at: 76).resummed) == .invalid(field: "ledger padding"), "a tag of a secret")
        #expect(error(bytes.with(1, at: 109).resummed) == .invalid(field: "ledger padding"))
        #expect(error(bytes.with(1, at: 4063).resummed) == .invalid(field: "ledger padding"))
    }
}
