#if os(Linux) && !canImport(Darwin)
import CrashSubject
import TestSupport
import Testing
import VaultCore
import VaultStorage

/// Every byte of header and ledger changed in turn.
@Suite(.seeded) struct FlippedHeaderTests {
    private static let copySize = 8_192
    private static let sectorSize = 4_096

    /// Offsets below `size`: all when soaking, else some, those that hold something foremost.
    private static func offsets(_ size: Int, _ count: Int, _ generator: inout SeededGenerator) -> [Int] {
        let meaning = Array(0..<min(900, size)) + Array((size - 64)..<size)
        let chosen = TestRun.isSoak ? [] : TestRun.sample(meaning, count, using: &generator)
        return chosen + TestRun.sample(Array(0..<size), count / 4, using: &generator)
    }

    @Test func `a byte changed in one copy of the header changes nothing`() throws {
        let home = try SmallHome()
        var generator = TestRun.generator("header, one copy")
        let good = try home.bytes("header")
        #expect(good.count == 2 * FlippedHeaderTests.copySize)
        let offsets = FlippedHeaderTests.offsets(FlippedHeaderTests.copySize, 60, &generator)
        for offset in offsets {
            for place in [offset, FlippedHeaderTests.copySize + offset] {
                let mask = generator.mask()
                try home.write([good[place] ^ mask], to: "header", at: place)
                let context = "byte \(place) ^ \(mask)"
                let vault = try home.open()
                #expect(throws: Never.self, "\(context)") { try vault.unlock(0) }
                #expect(SmallHome.wrong(vault, files: false) == [], "\(context)")
                #expect(try home.bytes("header") == good, "not repaired; \(context)")
                try home.write(good, to: "header")
            }
        }
        TestRun.report("header, one copy", "\(2 * offsets.count) of \(good.count) bytes changed")
    }

    @Test func `a byte changed in both copies is damage and costs no attempt`() throws {
        let home = try SmallHome()
        var generator = TestRun.generator("header, both copies")
        let good = try home.bytes("header")
        let ledger = try home.bytes("ledger")
        let earlier = try home.open()
        let offsets = FlippedHeaderTests.offsets(FlippedHeaderTests.copySize, 160, &generator)
        for offset in offsets {
            let mask = generator.mask()
            for place in [offset, FlippedHeaderTests.copySize + offset] {
                try home.write([good[place] ^ mask], to: "header", at: place)
            }
            let context = "byte \(offset) ^ \(mask)"
            #expect(code { _ = try home.open() } == .damaged, "\(context)")
            #expect(code { _ = try earlier.burnAttempt() } == .damaged, "\(context)")
            #expect(code { try earlier.unlock(phrase: Known.phrase(0)) } == .damaged, "\(context)")
            #expect(code { _ = try earlier.status() } == .damaged, "\(context)")
            #expect(try home.bytes("ledger") == ledger, "the ledger was written; \(context)")
            try home.write(good, to: "header")
        }
        let vault = try home.open()
        try vault.unlock(0)
        #expect(SmallHome.wrong(vault) == [])
        TestRun.report("header, both copies", "\(offsets.count) of \(FlippedHeaderTests.copySize) places changed")
    }

    /// Wrong passcodes before, and attempts left then.
    @Test(arguments: [(0, 5), (2, 3), (5, 0)])
    func `a byte changed in the ledger never gives an attempt back`(refused: Int, remaining: Int) throws {
        let home = try SmallHome()
        let name = "ledger after \(refused) wrong passcodes"
        var generator = TestRun.generator(name)
        let vault = try home.open()
        for number in 0..<refused {
            home.scratch.clock.advance(milliseconds: 3_600_001)
            let passcode = try Known.wrongPasscode(number)
            #expect(code { try vault.verify(passcode: passcode, spending: vault.burnAttempt()) } == .wrongPasscode)
        }
        #expect(try vault.status().remainingAttempts == remaining)
        let good = try home.bytes("ledger")
        let sectors = FlippedHeaderTests.sectorSize
        let offsets = FlippedHeaderTests.offsets(sectors, 60, &generator).flatMap { [$0, sectors + $0] }
        for (number, offset) in offsets.enumerated() {
            let mask = generator.mask()
            try home.write([good[offset] ^ mask], to: "ledger", at: offset)
            let context = "byte \(offset) ^ \(mask)"
            let left = try vault.status().remainingAttempts
            // The older sector may have one more spent, and a bad sector counts as another.
            #expect((max(0, remaining - 2)...remaining).contains(left), "\(left) left; \(context)")
            // Trying shows the same, whatever the delay was changed to. The same one twice would cost nothing.
            let passcode = try Known.wrongPasscode(100 + number)
            let outcome = code { try vault.verify(passcode: passcode, spending: vault.burnAttempt()) }
            let allowed: Set<VaultError.Code> = [.wrongPasscode, .delayed, .attemptsExhausted]
            #expect(outcome.map(allowed.contains) == true, "\(String(describing: outcome)); \(context)")
            let after = try vault.status().remainingAttempts
            #expect(after <= left - (outcome == .wrongPasscode && left > 0 ? 1 : 0), "\(after) left; \(context)")
            try home.write(good, to: "ledger")
        }
        // Both sectors: one attempt after the longest delay, and never more than there were before it.
        try home.write([good[40] ^ 1], to: "ledger", at: 40)
        try home.write([good[sectors + 40] ^ 1], to: "ledger", at: sectors + 40)
        #expect(try vault.status().remainingAttempts == 1)
        #expect(code { _ = try vault.burnAttempt() } == .delayed)
        TestRun.report(name, "\(offsets.count) of \(good.count) bytes changed")
    }
}
#endif
