import Foundation
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

@Suite struct AttemptTests {
    @Test func wrongPasscodesCountDownAndAreDelayed() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        for (number, wait) in [(1, 0), (2, 0), (3, 30), (4, 60)] as [(Int, UInt64)] {
            let error = #expect(throws: VaultError.self) { try vault.unlock("wrong \(number)") }
            #expect(error?.code == .wrongPasscode)
            #expect(error?.remainingAttempts == 5 - number)
            #expect(error?.retryAfter == (wait == 0 ? nil : .seconds(wait)))
            guard wait > 0 else { continue }
            let early = #expect(throws: VaultError.self) { try vault.unlock("right") }
            #expect(early?.code == .delayed)
            #expect(early?.retryAfter == .seconds(wait))
            home.clock.advance(seconds: wait)
        }
        try vault.unlock("right")
        #expect(try vault.status().remainingAttempts == 5)
    }

    @Test func theSameWrongPasscodeAgainCostsNothing() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        #expect(errorCode { try vault.unlock("wrong") } == .wrongPasscode)
        for _ in 0..<10 {
            let error = #expect(throws: VaultError.self) { try vault.unlock("wrong") }
            #expect(error?.remainingAttempts == 4)
        }
        #expect(errorCode { try vault.unlock("other") } == .wrongPasscode)
        #expect(try vault.status().remainingAttempts == 3)
    }

    @Test func aDroppedAttemptStaysSpent() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        for left in [4, 3] {
            let attempt = try vault.burnAttempt()
            #expect(attempt.remainingAttempts == left)
            _ = consume attempt
        }
        #expect(try vault.status().remainingAttempts == 3)
        #expect(try vault.status().refusedAttempts == 0)
    }

    @Test func unsettledBurnsCloseThePasscodeUntilThePhraseIsUsed() throws {
        let home = try TestHome()
        let phrase = try home.create()
        let vault = try home.open()
        for _ in 0..<5 {
            _ = try vault.burnAttempt()
            home.clock.advance(seconds: 3600)
        }
        #expect(errorCode { try vault.unlock("right") } == .attemptsExhausted)
        #expect(try vault.status().isPasscodeClosed)
        let new = try secret("new")
        _ = try vault.recover(phrase: phrase.phrase, newPasscode: new)
        vault.lock()
        try vault.unlock("new")
    }

    @Test func atTheLimitOneTryAnHour() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        for number in 0..<5 {
            #expect(errorCode { try vault.unlock("wrong \(number)") } == .wrongPasscode)
            home.clock.advance(seconds: 3600)
        }
        #expect(errorCode { try vault.unlock("wrong 6") } == .wrongPasscode)
        home.clock.advance(seconds: 3599)
        #expect(errorCode { try vault.unlock("right") } == .delayed)
        home.clock.advance(seconds: 1)
        try vault.unlock("right")
    }

    @Test func aRebootStartsTheDelayAgainAndThenItRuns() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        for number in 0..<3 { #expect(errorCode { try vault.unlock("wrong \(number)") } == .wrongPasscode) }
        home.clock.advance(seconds: 29)
        home.clock.reboot()
        let error = #expect(throws: VaultError.self) { try vault.unlock("right") }
        #expect(error?.retryAfter == .seconds(30))
        home.clock.advance(seconds: 30)
        try vault.unlock("right")
    }

    @Test func aLedgerWithOneBadSectorCountsOneMore() throws {
        for sector in 0..<2 {
            let home = try TestHome()
            _ = try home.create()
            let vault = try home.open()
            #expect(errorCode { try vault.unlock("wrong") } == .wrongPasscode)
            #expect(try vault.status().remainingAttempts == 4)
            try home.flip("ledger", at: sector * LedgerSector.size + 50)
            #expect(try vault.status().remainingAttempts == 3, "sector \(sector)")
            try vault.unlock("right")
            #expect(try vault.status().remainingAttempts == 5)
        }
    }

    @Test(arguments: ["missing", "empty", "garbage", "foreign"])
    func aLostLedgerIsNeverAReset(kind: String) throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        switch kind {
        case "missing": try FileManager.default.removeItem(atPath: home.file("ledger"))
        case "empty": try home.write([], to: "ledger")
        case "garbage": try home.write(pattern(LedgerSector.fileSize), to: "ledger")
        default:
            let other = try TestHome()
            _ = try other.create()
            try home.write(try other.bytes("ledger"), to: "ledger")
        }
        #expect(try vault.status().remainingAttempts == 1)
        let error = #expect(throws: VaultError.self) { try vault.unlock("right") }
        #expect(error?.code == .delayed)
        #expect(error?.retryAfter == .seconds(3600))
        home.clock.advance(seconds: 3600)
        try vault.unlock("right")
        #expect(try vault.status().remainingAttempts == 5)
    }

    @Test func damageInTheHeaderCostsNoAttempt() throws {
        let home = try TestHome()
        _ = try home.create()
        let vault = try home.open()
        try home.flip("header", at: 100)
        try home.flip("header", at: Header.copySize + 100)
        #expect(errorCode { try vault.unlock("right") } == .damaged)
        try home.flip("header", at: 100)
        #expect(try vault.status().remainingAttempts == 5)
        try vault.unlock("right")
    }

    @Test func guessersTogetherGetNoMoreThanTheLimit() async throws {
        let home = try TestHome()
        _ = try home.create()
        let checked = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<32 {
                group.addTask {
                    guard let vault = try? home.open() else { return false }
                    do {
                        try vault.unlock("guess \(number)")
                    } catch let error as VaultError { return error.code == .wrongPasscode } catch {}
                    return false
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(checked == 3)  // the third failure starts a delay, and this clock stands still
    }
}
