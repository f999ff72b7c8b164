import Testing
import VaultFormat

/// Slots are parsed as parts of a header.
@Suite struct SlotTests {
    private func header(_ slot: [UInt8]) throws(FormatError) -> Header {
        try Header(
            parsing: Sample.copy(counted(Sample.policyBytes) + counted([]) + [1] + counted(slot)),
            checksum: testChecksum)
    }

    private func error(_ slot: [UInt8]) -> FormatError? {
        formatError { () throws(FormatError) in _ = try header(slot) }
    }

    static let samples = [
        (Sample.passcodeSlotBytes, Sample.passcodeSlot), (Sample.recoverySlotBytes, Sample.recoverySlot),
        (Sample.unknownSlotBytes, Sample.unknownSlot),
    ]

    @Test(arguments: samples)
    func bytesAreThoseOfTheDocument(bytes: [UInt8], slot: Slot) throws {
        let header = try header(bytes)
        #expect(header.slots == [slot])
        #expect(try Header(parsing: header.encoded(checksum: testChecksum), checksum: testChecksum) == header)
    }

    @Test func aSlotOfAnUnknownKindIsKept() throws {
        for kind: UInt8 in [0, 6, 99, 255] {
            let bytes = Sample.unknownSlotBytes.with(kind, at: 1)
            let header = try header(bytes)
            #expect(header.slots[0].kind.rawValue == kind && !header.slots[0].kind.isCounted)
            #expect(header.slots[0].kindData == Array("later".utf8))
            #expect(
                try header.encoded(checksum: testChecksum)
                    == Sample.copy(
                        counted(Sample.policyBytes) + counted([]) + [1] + counted(bytes)))
        }
        #expect(SlotKind(rawValue: 99).name == "unknown-99")
    }

    @Test(arguments: samples)
    func everyOtherSizeIsRefused(bytes: [UInt8], slot: Slot) {
        for count in 0..<bytes.count where error(Array(bytes.prefix(count))) == nil {
            Issue.record("\(count) bytes were taken")
        }
        #expect(error(bytes + [0]) == .wrongSize)
    }

    @Test func hugeLengthsAreRefused() {
        let bytes = Sample.passcodeSlotBytes
        for length: UInt16 in [129, 0x8000, .max] {
            #expect(
                error(bytes.replacing(at: 33, with: little(length))) == .invalid(field: "slot hardware name"))
        }
        for length: UInt16 in [1025, .max] {
            #expect(error(bytes.replacing(at: 38, with: little(length))) == .invalid(field: "slot data"))
        }
        #expect(error(bytes.replacing(at: 33, with: little(UInt16(128)))) == .wrongSize)
        #expect(error(bytes.replacing(at: 38, with: little(UInt16(1024)))) == .wrongSize)
    }

    @Test func flagsAndDerivationsAreChecked() {
        let bytes = Sample.passcodeSlotBytes
        for (offset, byte) in [(2, 7), (3, 1), (3, 0x80)] as [(Int, UInt8)] {
            #expect(error(bytes.with(byte, at: offset)) == .invalid(field: "slot flags"))
        }
        for algorithm: UInt8 in [0, 2, 255] {
            #expect(error(bytes.with(algorithm, at: 4)) == .invalid(field: "slot derivation"))
        }
        for offset in [5, 9, 13] {
            #expect(error(Sample.unknownSlotBytes.with(1, at: offset)) == .invalid(field: "slot derivation"))
        }
    }

    @Test func eachKindHasItsShape() {
        let plain = Sample.passcodeSlotBytes.replacing(at: 4, with: repeated(0, 13))
        #expect(error(plain) == .invalid(field: "passcode slot"), "no derivation")
        #expect(error(Sample.passcodeSlotBytes.with(1, at: 2)) == .invalid(field: "passcode slot"), "no policy")
        #expect(error(Sample.passcodeSlotBytes.with(2, at: 2)) == .invalid(field: "slot hardware name"), "no share")
        #expect(error(Sample.recoverySlotBytes.with(1, at: 4)) == .invalid(field: "recovery slot"), "a derivation")
        for flags: UInt8 in [1, 2, 3] {
            #expect(error(Sample.recoverySlotBytes.with(flags, at: 2)) == .invalid(field: "recovery slot"))
        }
    }

    @Test func aPINIsUnderAChipStretchedAndBoundToTheRules() throws {
        let pin = Sample.passcodeSlotBytes.with(3, at: 0).with(4, at: 1)
        #expect(try header(pin).pinSlot?.kind == .pin)
        #expect(error(pin.replacing(at: 4, with: repeated(0, 13))) == .invalid(field: "PIN slot"), "no derivation")
        #expect(error(pin.with(1, at: 2)) == .invalid(field: "PIN slot"), "no policy")
        let bare = pin.with(2, at: 2)
        #expect(error(bare) == .invalid(field: "slot hardware name"), "no share, with a name")
        let nameless = Array(bare[..<33]) + counted([]) + Array(bare[38...])
        #expect(error(nameless) == .invalid(field: "PIN slot"), "no share")
    }

    @Test func atMostOneOfEachKindThatIsOpened() {
        for bytes in [Sample.passcodeSlotBytes, Sample.recoverySlotBytes, Sample.passcodeSlotBytes.with(4, at: 1)] {
            let two = counted(bytes.with(10, at: 0)) + counted(bytes.with(11, at: 0))
            let failure = formatError { () throws(FormatError) in
                _ = try Header(
                    parsing: Sample.copy(counted(Sample.policyBytes) + counted([]) + [2] + two), checksum: testChecksum)
            }
            #expect(failure == .invalid(field: "slots"))
        }
    }

    /// What no reader takes is not written: the copy that could still be read would be gone.
    @Test func partsThatAreTooLongAreNotWritten() throws {
        var slot = Sample.unknownSlot
        slot.kindData = repeated(1, 1024)
        var header = try header(Sample.unknownSlotBytes)
        header.set(slot)
        _ = try Header(parsing: header.encoded(checksum: testChecksum), checksum: testChecksum)
        slot.kindData.append(1)
        header.set(slot)
        #expect(formatError { () throws(FormatError) in _ = try header.encoded(checksum: testChecksum) } == .headerFull)
    }

    @Test func authenticatedDataIsThatOfTheDocument() {
        let digest = repeated(0x77, 32)
        #expect(
            Sample.passcodeSlot.authenticatedData(vault: Sample.vault, policyDigest: digest)
                == Sample.vault.bytes + little(UInt32(1)) + Sample.passcodeSlotParameters + digest)
        #expect(
            Sample.recoverySlot.authenticatedData(vault: Sample.vault, policyDigest: digest)
                == Sample.vault.bytes + little(UInt32(1)) + Sample.recoverySlotBytes.prefix(37) + repeated(0, 32))
    }

    @Test func everyParameterIsAuthenticated() throws {
        let bytes = Sample.passcodeSlotBytes
        let digest = repeated(0x77, 32)
        let original = Sample.passcodeSlot.authenticatedData(vault: Sample.vault, policyDigest: digest)
        for offset in Sample.passcodeSlotParameters.indices {
            for mask: UInt8 in [1, 2, 4, 8, 16, 32, 64, 128] {
                guard let changed = try? header(bytes.with(bytes[offset] ^ mask, at: offset)) else { continue }
                let data = changed.slots[0].authenticatedData(vault: Sample.vault, policyDigest: digest)
                #expect(data != original, "offset \(offset)")
            }
        }
        let other = try #require(VaultID(bytes: repeated(3, 16)))
        #expect(Sample.passcodeSlot.authenticatedData(vault: other, policyDigest: digest) != original)
        #expect(
            Sample.passcodeSlot.authenticatedData(vault: Sample.vault, policyDigest: digest.with(0, at: 31))
                != original)
    }

    @Test func costsOutsideTheLimitsAreRefused() {
        let floor = DerivationParameters(passes: 3, memoryKiB: 65_536)
        #expect(formatError { () throws(FormatError) in try DerivationLimits.shipped.check(floor) } == nil)
        let ceiling = DerivationParameters(passes: 64, memoryKiB: 2 << 20)
        #expect(formatError { () throws(FormatError) in try DerivationLimits.shipped.check(ceiling) } == nil)
        for (passes, memory, lanes) in [
            (2, 65_536, 1), (3, 65_535, 1), (65, 65_536, 1), (3, (2 << 20) + 1, 1), (3, 65_536, 0), (3, 65_536, 2),
            (0, 0, 0), (.max, .max, .max),
        ] as [(UInt32, UInt32, UInt32)] {
            let costs = DerivationParameters(passes: passes, memoryKiB: memory, lanes: lanes)
            #expect(
                formatError { () throws(FormatError) in try DerivationLimits.shipped.check(costs) }
                    == .derivationCostOutOfRange)
        }
    }
}
