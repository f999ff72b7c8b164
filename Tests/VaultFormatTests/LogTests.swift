import TestSupport
import Testing
import VaultFormat

/// Fronts, entries and the state of the security log, byte by byte.
@Suite struct LogTests {
    private static let vault = VaultID(bytes: Array(0..<16))!
    private static let chain = LogChain(bytes: Array(16..<32))!
    private static let moment = LogMoment(time: -5, bootID: Array(32..<48), bootMilliseconds: 9)
    private static let link = LogLink(chain: chain, first: 300)

    private static var run: LogRun {
        var run = LogRun(since: 77)
        for kind in UnprovenEvent.allCases { for _ in 0...kind.rawValue { run.add(kind) } }
        return run
    }

    static let events: [SecurityEvent] =
        [
            .created, .confirmed, .passcodeChanged, .recoveryPhraseSet(isThere: true),
            .recoveryPhraseSet(isThere: false), .pinSet(isThere: true), .pinSet(isThere: false),
            .rotated(previous: link), .missed(count: 3, since: 12),
            .restarted(LogRestart(reason: .nothingFound, previous: nil, found: 0, refused: 0, unsettled: 0)),
            .restarted(LogRestart(reason: .restored, previous: link, found: 411, refused: 2, unsettled: 1)),
            .restarted(
                LogRestart(
                    reason: .newKeys, previous: link, found: 5, refused: 0, unsettled: 0, digest: repeated(3, 32))),
            .altered(LogAlteration(kind: .missing, previous: nil, position: 0)),
            .altered(LogAlteration(kind: .stateBehind, previous: link, position: 1 << 40)),
            .unlocked(LogUnlock(method: .passcode, refused: 0)),
            .unlocked(LogUnlock(method: .devicePasscode, refused: .max)), .unsettled(count: 4), .runEnded(run),
            .fallbackUsed(.biometrics, .unavailable), .fallbackUsed(.openCompartment, .cancelled),
            .enrollmentChanged(.biometrics),
            .policyChanged([.attemptLimit, .fallback]), .rekeyed(epoch: 7), .recovered(headerWasAltered: true),
            .levelChanged(from: .device, to: .secret), .levelChanged(from: .owner, to: .device), .levelContradicted,
            .floorReplaced(.otherVault, was: .secret), .floorReplaced(.lower, was: .device),
            .floorReplaced(.unreadable, was: .device),
            .recordsSetAside(count: 3), .wipeBegun(isDeliberate: true), .inboxMigrated(count: 5), .drill(passed: false),
        ] + LogLockReason.allCases.map { .locked($0) } + UnprovenEvent.allCases.map { .unproven($0, run) }
        + LogSelfDestruct.allCases.map { .selfDestruct($0) }
        + LogDeviceChange.allCases.map { .device($0, digest: repeated(9, 32)) }
        + LogIdentityChange.allCases.map { .identity($0, digest: repeated(8, 32)) }

    // MARK: entries

    @Test func everyEventRoundTrips() throws {
        for event in LogTests.events {
            let entry = LogEntry(moment: LogTests.moment, event: event)
            let bytes = entry.encoded()
            #expect(bytes.count == 119, "\(event)")
            #expect(try LogEntry(parsing: bytes) == entry, "\(event)")
        }
    }

    @Test func codesAreThoseOfTheDocument() {
        #expect(SecurityEvent.created.code == 1 && SecurityEvent.drill(passed: true).code == 114)
        #expect(
            SecurityEvent.unproven(.refused, LogTests.run).code == 32 && SecurityEvent.runEnded(LogTests.run).code == 48
        )
        #expect(SecurityEvent.unproven(.rollbackReported, LogTests.run).code == 38)
        let known = Set(LogTests.events.map(\.code))
        let all: [UInt8] =
            [1, 2, 3, 4, 5, 16, 17, 18, 19, 20, 21] + Array(32...38) + [
                48, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 80, 81, 82, 83, 84,
            ]
            + Array(96...101) + [112, 114]
        #expect(known == Set(all))
        for code in (0...255).map(UInt8.init) where !known.contains(code) {
            for fields in [[0, 0], [1, 0], [1, 1]] as [[UInt8]] {
                let bytes = [1, code] + repeated(0, 32) + fields + repeated(0, 83)
                #expect(
                    formatError { () throws(FormatError) in _ = try LogEntry(parsing: bytes) } != nil, "code \(code)")
            }
        }
    }

    @Test func anEntryIsTheBytesOfTheDocument() {
        let entry = LogEntry(moment: LogTests.moment, event: .unlocked(LogUnlock(method: .recoveryPhrase, refused: 3)))
        let expected: [UInt8] =
            [1, 16] + little(Int64(-5)) + Array(32..<48) + little(UInt64(9)) + [2] + little(UInt32(3))
        #expect(entry.encoded() == expected + repeated(0, 119 - expected.count))
    }

    /// One encoding only: whatever is read is written as the same bytes.
    @Test func everyChangedByteIsRefusedOrMeansSomethingElse() {
        for event in LogTests.events {
            let entry = LogEntry(moment: LogTests.moment, event: event)
            let bytes = entry.encoded()
            for offset in bytes.indices {
                for mask in [0x01, 0x80, 0xFF] as [UInt8] {
                    let changed = bytes.with(bytes[offset] ^ mask, at: offset)
                    guard let read = try? LogEntry(parsing: changed) else { continue }
                    if read == entry || read.encoded() != changed { Issue.record("\(event), byte \(offset)") }
                }
            }
        }
    }

    @Test func everyOtherSizeIsRefused() {
        let bytes = LogEntry(moment: LogTests.moment, event: .created).encoded()
        for count in 0..<bytes.count {
            let part = Array(bytes.prefix(count))
            #expect(formatError { () throws(FormatError) in _ = try LogEntry(parsing: part) } == .wrongSize)
        }
        #expect(formatError { () throws(FormatError) in _ = try LogEntry(parsing: bytes + [0]) } == .wrongSize)
    }

    // MARK: runs

    @Test func aRunGetsFewEntries() {
        var run = LogRun(since: 0)
        var written: [UInt32] = []
        for _ in 0..<5_000 {
            run.add(.repeated)
            if run.isWritten(.repeated) { written.append(run.total) }
        }
        #expect(written == Array(1...16) + [32, 64, 128, 256, 512, 1024, 2048, 4096])
        // What the ledger bounds has an entry each time: the run's count is the state's, which is not proved.
        for kind in UnprovenEvent.allCases {
            #expect(run.isWritten(kind) == [.refused, .biometricFailed].contains(kind))
        }
    }

    // MARK: fronts

    private static let front = LogFront(vault: vault, chain: chain, first: 0x1234, epoch: 7)

    private func frontError(_ bytes: [UInt8]) -> FormatError? {
        formatError { () throws(FormatError) in _ = try LogFront(parsing: bytes, checksum: testChecksum) }
    }

    @Test func aFrontIsTheBytesOfTheDocument() throws {
        let bytes = LogTests.front.encoded(checksum: testChecksum)
        let fields =
            Array("HFSECLOG".utf8) + little(UInt32(1)) + Array(0..<32) + little(UInt64(0x1234)) + little(UInt32(7))
        #expect(bytes == (fields + repeated(0, 160 - fields.count) + repeated(0, 32)).resummed)
        #expect(try LogFront(parsing: bytes, checksum: testChecksum) == LogTests.front)
        #expect(LogFormat.offset(of: 0x1236, first: 0x1234) == 576)
    }

    @Test func frontsOutsideTheFormatAreRefused() {
        let bytes = LogTests.front.encoded(checksum: testChecksum)
        for count in 0..<bytes.count { #expect(frontError(Array(bytes.prefix(count))) == .wrongSize) }
        for offset in bytes.indices { #expect(frontError(bytes.with(bytes[offset] ^ 4, at: offset)) != nil) }
        #expect(frontError(bytes.with(0, at: 0).resummed) == .wrongMagic)
        #expect(frontError(bytes.with(2, at: 8).resummed) == .newerVersion(2))
        #expect(frontError(bytes.with(1, at: 159).resummed) == .invalid(field: "log padding"))
        #expect(frontError(bytes.with(0x40, at: 47).resummed) == .invalid(field: "log index"))
    }

    // MARK: state

    private static func state(withRun: Bool = true) -> LogState {
        var state = LogState(
            kind: .live, vault: vault, chain: chain, first: 300, next: 311, bootID: Array(48..<64),
            recipient: LogState.Recipient(epoch: 5, point: [3] + Array(100..<132)))
        state.tail = Array(64..<80)
        if withRun { state.run = LogState.Run(run: run, kind: .wrongPhrase, last: moment) }
        return state
    }

    private static func encode(_ state: LogState, key: UInt8 = 0xAB) -> [UInt8] {
        var bytes = repeated(0, LogState.size)
        if state.kind == .live { for offset in LogState.keyRange { bytes[offset] = key } }
        bytes.lendForWriting { state.write(into: &$0, checksum: testChecksum) }
        return bytes
    }

    private func parse(_ bytes: [UInt8]) throws(FormatError) -> LogState {
        try bytes.lend { bytes throws(FormatError) in try LogState(parsing: bytes, checksum: testChecksum) }
    }

    private func stateError(_ bytes: [UInt8]) -> FormatError? {
        formatError { () throws(FormatError) in _ = try parse(bytes) }
    }

    @Test func aStateIsTheBytesOfTheDocument() throws {
        let bytes = LogTests.encode(LogTests.state())
        var fields = Array("HFLOGKEY".utf8) + little(UInt32(1)) + little(UInt32(1)) + Array(0..<32)
        fields += little(UInt64(300)) + little(UInt64(311)) + repeated(0xAB, 32) + Array(64..<80) + Array(48..<64)
        fields += little(UInt32(1)) + little(UInt32(2))
        for count in 1...7 { fields += little(UInt32(count)) }
        fields += little(Int64(77)) + little(Int64(-5)) + Array(32..<48) + little(UInt64(9))
        fields += little(UInt32(5)) + [3] + Array(100..<132)
        #expect(bytes == (fields + repeated(0, 480 - fields.count) + repeated(0, 32)).resummed)
        #expect(try parse(bytes) == LogTests.state())
        let without = LogTests.encode(LogTests.state(withRun: false))
        #expect(try parse(without) == LogTests.state(withRun: false))
        #expect(without[128..<204].allSatisfy { $0 == 0 })
        #expect(stateError(without.with(1, at: 203).resummed) == .invalid(field: "log state padding"))
        #expect(stateError(bytes.with(4, at: 208).resummed) == .invalid(field: "log state key"), "no compressed point")
        #expect(
            stateError(bytes.replacing(at: 204, with: repeated(0, 37)).resummed) == .invalid(field: "log state key"))
    }

    @Test func aCopyHasNoKey() throws {
        var state = LogTests.state(withRun: false)
        state.kind = .restored
        #expect(stateError(LogTests.encode(state)) == .invalid(field: "log state key"), "a public key in a copy")
        state.recipient = nil
        let bytes = LogTests.encode(state)
        #expect(try parse(bytes) == state)
        #expect(stateError(bytes.with(1, at: 70).resummed) == .invalid(field: "log state key"))
        state.run = LogTests.state().run
        #expect(stateError(LogTests.encode(state)) == .invalid(field: "log state key"))
    }

    @Test func statesOutsideTheFormatAreRefused() {
        let bytes = LogTests.encode(LogTests.state())
        for count in 0..<bytes.count { #expect(stateError(Array(bytes.prefix(count))) == .wrongSize) }
        #expect(stateError(bytes + [0]) == .wrongSize)
        for offset in bytes.indices {
            #expect(stateError(bytes.with(bytes[offset] ^ 4, at: offset)) == .checksumMismatch)
        }
        #expect(stateError(bytes.with(0, at: 0).resummed) == .wrongMagic)
        #expect(stateError(bytes.with(2, at: 8).resummed) == .newerVersion(2))
        for kind in [0, 4, 0xFF] as [UInt8] {
            #expect(stateError(bytes.with(kind, at: 12).resummed) == .invalid(field: "log state kind"))
        }
        #expect(stateError(bytes.with(1, at: 13).resummed) == .invalid(field: "log state kind"))
        #expect(stateError(bytes.with(0xFF, at: 56).resummed) == nil, "511, in range")
        #expect(stateError(bytes.with(0xFF, at: 57).resummed) == .invalid(field: "log state index"), "too far")
        #expect(stateError(bytes.with(0, at: 57).resummed) == .invalid(field: "log state index"), "before the first")
        #expect(stateError(bytes.with(2, at: 128).resummed) == .invalid(field: "log run"))
        #expect(stateError(bytes.with(7, at: 132).resummed) == .invalid(field: "log run"))
        #expect(stateError(bytes.with(0, at: 144).resummed) == .invalid(field: "log run"), "none of its last kind")
        #expect(stateError(bytes.with(1, at: 479).resummed) == .invalid(field: "log state padding"))
        for offset in bytes.indices.dropLast(32) {
            let changed = bytes.with(bytes[offset] ^ 0x81, at: offset).resummed
            guard let state = try? parse(changed) else { continue }
            var written = changed
            written.lendForWriting { state.write(into: &$0, checksum: testChecksum) }
            if written != changed { Issue.record("offset \(offset) is not canonical") }
        }
    }
}
