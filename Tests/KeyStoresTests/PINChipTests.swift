import Foundation
import KeyStores
import RealParts
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage
import VaultHeader

/// A PIN under a software TPM: the chip counts, whatever becomes of the home and of the power.
@Suite(.enabled(if: SoftwareTPM.isInstalled, "swtpm is not installed: a PIN under a TPM is not tested"))
struct PINChipTests {
    let home: HardwareHome

    init() throws {
        home = try HardwareHome()
        try home.enrollPIN()
    }

    private func bytes(_ file: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: "\(home.folder)/\(file)"))
    }

    @Test func opensHereAndNotOnAnotherMachine() throws {
        #expect(try home.unlock(pin: "2580") == nil)
        let other = try SoftwareTPM()
        #expect(try home.unlock(pin: "2580", at: other.location) == .hardwareUnavailable)
        let plain = try Vault(at: home.folder, settings: .costsForTests())
        #expect(try plain.status().pinAssurance == nil)
        let passcode = try secret("right")
        try plain.unlock(passcode: passcode, spending: plain.burnAttempt())
        #expect(try plain.status().remainingAttempts == 5)
    }

    /// A thief who puts the home back after each guess has as many as the chip gives, and no more.
    @Test(arguments: [false, true])
    func oldHomesAndPowerCutsGiveNoTryBack(_ cutsPower: Bool) throws {
        let before = (ledger: try bytes("ledger"), header: try bytes("header"))
        for number in 0..<5 {
            #expect(try home.unlock(pin: "999\(number)") == .wrongPasscode)
            try before.ledger.write(to: URL(fileURLWithPath: home.folder + "/ledger"))
            try before.header.write(to: URL(fileURLWithPath: home.folder + "/header"))
            if cutsPower { try home.chip.cutPower() }
        }
        #expect(try home.unlock(pin: "2580") == .hardwareDestroyed)
        try home.unlock()
        #expect(try home.unlock(pin: "2580") == .hardwareDestroyed, "no passcode gives the PIN back")
        try home.enrollPIN()
        #expect(try home.unlock(pin: "2580") == nil)
        #expect(try home.indices() == 1)
        // The slot as it was: its index is gone.
        try before.header.write(to: URL(fileURLWithPath: home.folder + "/header"))
        #expect(try home.unlock(pin: "2580") == .hardwareDestroyed)
    }

    /// A chip that falls silent at any command of a wrong one, before or after it did what was asked: what it has
    /// counted, the ledger has too, and nothing else.
    @Test(arguments: [false, true])
    func aSilentChipGivesNoTryBackThatItCounted(_ losesAnswer: Bool) throws {
        let proxy = try TPMProxy(home.chip)
        var counted = 0
        var unheard = 0
        for number in 0... {
            #expect(try home.unlock(pin: "2580") == nil)
            proxy.arm(at: number, losesAnswer: losesAnswer) {}
            let code = try home.unlock(pin: "1470", at: proxy.location)
            let vault = try home.vault()
            let status = try vault.status()
            let isCounted = status.remainingAttempts == 4
            #expect(isCounted == (vault.remainingAtChip(.pin) == 4), "cut at command \(number)")
            #expect(code == .wrongPasscode || code == .hardwareUnavailable, "cut at command \(number)")
            // Nobody heard that it was wrong: it is spent, and no step towards the vault's end.
            if isCounted, code == .hardwareUnavailable {
                unheard += 1
                #expect(status.refusedAttempts == 0)
            }
            if isCounted { counted += 1 }
            guard proxy.hasCut else { break }
        }
        #expect(counted > 1, "no command came behind the one that is counted")
        #expect(unheard == (losesAnswer ? 1 : 0))
    }

    /// An attempt whose answer was lost is spent for a passcode under the chip as well; a right one costs nothing.
    @Test func aLostAnswerCostsARightSecretNothing() throws {
        let proxy = try TPMProxy(home.chip)
        for number in 0... {
            proxy.arm(at: number, losesAnswer: true) {}
            let code = try home.unlock(pin: "2580", at: proxy.location)
            #expect(code == nil || code == .hardwareUnavailable)
            #expect(try home.vault().status().remainingAttempts == 5, "lost answer to command \(number)")
            guard proxy.hasCut else { break }
        }
    }

    @Test func aRightOneGivesAllTriesBackAndPasscodesAreCountedApart() throws {
        try home.enroll()
        #expect(try home.indices() == 3)
        for _ in 0..<3 {
            #expect(try home.unlock(pin: "9999") == .wrongPasscode)
            #expect(try home.unlock(pin: "2580") == nil)
        }
        for number in 0..<2 {
            let vault = try home.vault()
            let wrong = try secret("wrong \(number)")
            #expect(throws: VaultError.self) { try vault.unlock(passcode: wrong, spending: vault.burnAttempt()) }
        }
        #expect(try home.unlock(pin: "2580") == nil)
        try home.unlock()
        try home.removePIN()
        #expect(try home.indices() == 2)
    }

    @Test func theRulesChangeWithoutThePINAndAWipeLeavesNothing() throws {
        let vault = try home.vault()
        let passcode = try secret("right")
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { $0.lockTiming = .never }
        #expect(try home.unlock(pin: "2580") == nil)
        #expect(try home.indices() == 1)
        _ = try vault.wipe(passcode: passcode, spending: vault.burnAttempt()) { _ in }
        #expect(try home.indices() == 0)
    }
}
