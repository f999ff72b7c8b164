import TestSupport
import Testing
import VaultFormat

/// Random and randomly damaged bytes: a parser throws, or gives a value whose encoding is what it read.
@Suite(.seeded) struct GarbageTests {
    private static let rounds = TestRun.isSoak ? 20_000 : 400

    /// Valid bytes with some damage, or none of them valid.
    private func garbage(_ sample: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = sample
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: return generator.bytes(Int.random(in: 0...sample.count + 8, using: &generator))
        case 1: bytes.removeLast(Int.random(in: 0...min(40, bytes.count), using: &generator))
        case 2: bytes += generator.bytes(Int.random(in: 1...40, using: &generator))
        default: break
        }
        for _ in 0..<Int.random(in: 0...4, using: &generator) where !bytes.isEmpty {
            let offset = Int.random(in: 0..<bytes.count, using: &generator)
            // Most of a structure of fixed size is padding: the front is hit more often than the rest.
            let place = Bool.random(using: &generator) ? offset : offset % min(bytes.count, 600)
            bytes[place] = [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &generator)].randomElement(
                using: &generator)!
        }
        return bytes
    }

    @Test func headers() throws {
        var generator = SeededGenerator()
        for _ in 0..<Self.rounds {
            let bytes = garbage(Sample.headerBytes, &generator).resummed
            guard let header = try? Header(parsing: bytes, checksum: testChecksum) else { continue }
            #expect(try header.encoded(checksum: testChecksum) == bytes)
        }
    }

    @Test func ledgerSectors() {
        var generator = SeededGenerator()
        for _ in 0..<Self.rounds {
            let bytes = garbage(Sample.sectorBytes, &generator).resummed
            guard let sector = try? LedgerSector(parsing: bytes, checksum: testChecksum) else { continue }
            #expect(sector.encoded(checksum: testChecksum) == bytes)
        }
    }

    @Test func policies() throws {
        var generator = SeededGenerator()
        for _ in 0..<Self.rounds * 4 {
            let sample = Bool.random(using: &generator) ? Sample.policyBytes : Sample.laterPolicyBytes
            let bytes = garbage(sample, &generator)
            guard let policy = try? VaultPolicy(parsing: bytes) else { continue }
            #expect(try policy.encoded() == bytes)
        }
    }

    @Test func manifests() {
        var generator = SeededGenerator()
        let body = Array(Sample.manifestBody.utf8)
        for _ in 0..<Self.rounds {
            let changed = garbage(body, &generator)
            let bytes = changed + Array("end \(Hexadecimal.encode(changed.lend(testChecksum)))\n".utf8)
            guard let manifest = try? BackupManifest(parsing: bytes, checksum: testChecksum) else { continue }
            #expect(manifest.encoded(checksum: testChecksum) == bytes)
        }
    }

    @Test func keybagsRecordsRootsAndDescriptors() {
        var generator = SeededGenerator()
        let keybag = [1, 2, 0, 1] + little(UInt32(1)) + repeated(1, 32) + [2] + little(UInt32(1)) + repeated(2, 32)
        let record = [1, 0, 0, 0, 2, 0, 3, 0] + repeated(4, 24) + Array("abcde".utf8) + repeated(5, 9)
        for _ in 0..<Self.rounds * 4 {
            let bag = garbage(keybag, &generator)
            if let layout = try? bag.lend({ bytes throws(FormatError) in try KeybagLayout(parsing: bytes) }) {
                #expect(bag.count == KeybagLayout.size(entries: layout.entries.count))
                #expect(layout.entries.allSatisfy { $0.range.count == 32 && $0.range.upperBound <= bag.count })
            }
            let plaintext = garbage(record, &generator)
            if let fields = try? plaintext.lend({ bytes throws(FormatError) in try RecordFields(parsing: bytes) }) {
                #expect(fields.contentOffset <= plaintext.count)
            }
            let other = garbage(repeated(7, [56, 64, 104].randomElement(using: &generator) ?? 64), &generator)
            let root = try? other.lend { bytes throws(FormatError) in try RootRecord(parsing: bytes) }
            // Count, next sequence and seals stay below 2^62.
            let isRoot = [64, 104].contains(other.count) && [7, 15, 63].allSatisfy { other[$0] < 0x40 }
            #expect((root != nil) == isRoot)
            let file = try? other.lend { bytes throws(FormatError) in try FileDescriptor(parsing: bytes) }
            #expect((file != nil) == (other.count == 56))
        }
    }
}
