import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat
import VaultStorage

extension Vault {
    /// Switches self-destruct without the countdown, which is another layer's.
    @discardableResult
    func setSelfDestruct(_ isOn: Bool, _ passcode: String = "right") throws -> WipeReceiptKey? {
        let secret = try secret(passcode)
        return try changeSelfDestruct(to: isOn, passcode: secret, spending: burnAttempt(), approve: {})
    }

    /// A wrong passcode; each number is another one.
    func guess(_ number: Int) throws { try unlock("wrong \(number)") }

    func wipe(_ passcode: String = "right", announce: (WipeReceiptKey) -> Void = { _ in }) throws -> WipeReport {
        let secret = try secret(passcode)
        return try wipe(passcode: secret, spending: burnAttempt()) { key throws(VaultError) in announce(key) }
    }
}

extension TestHome {
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }

    func receipt(key: String? = nil) throws -> WipeReceipt {
        try WipeReceipt(verifying: bytes("wipe-receipt"), key: key)
    }

    /// With a few records and one file; locked.
    func filled() throws -> Vault {
        let vault = try unlocked()
        for number in 0..<10 { try vault.put(pattern(300, seed: UInt8(number)), "record \(number)") }
        try vault.stream(pattern(Vault.largestInlineValue + 5_000), "file")
        vault.lock()
        return vault
    }

    /// Everything that must not be found afterwards: wrapped keys, salts, commitments, the keybag, the ledger's
    /// sectors.
    func secrets() throws -> [[UInt8]] {
        let header = try bytes("header")
        let ledger = try bytes("ledger")
        return stride(from: 100, to: 1_400, by: 64).map { Array(header[$0..<$0 + 24]) }.filter { Set($0).count > 8 }
            + [Array(ledger[20..<60]), Array(ledger[4116..<4156])]
    }
}

@Suite struct WipeTests {
    static let results: [String: WipeResult] = [
        "keys": .erased, "ledger": .erased, "records": .erased, "files": .erased,
    ]

    @Test func theLimitDestroysTheVaultInTheSameCall() throws {
        let home = try TestHome()
        let vault = try home.filled()
        let key = try #require(try vault.setSelfDestruct(true))
        #expect(key.origin == .enabled)
        let secrets = try home.secrets()
        for number in 1...4 {
            home.clock.advance(seconds: 3600)
            let error = #expect(throws: VaultError.self) { try vault.guess(number) }
            #expect(error?.code == .wrongPasscode)
            let left = 5 - number
            #expect(
                error?.reason.contains(
                    left == 1 ? "; 1 more wrong passcode destroys" : "; \(left) more wrong passcodes destroy") == true)
        }
        home.clock.advance(seconds: 3600)
        let error = #expect(throws: VaultError.self) { try vault.guess(5) }
        #expect(error?.code == .wiped)
        #expect(error?.remainingAttempts == 0)
        #expect(error?.reason.contains("\(home.path)/wipe-receipt") == true)
        #expect(try home.names() == ["wipe-receipt"])
        #expect(!vault.isUnlocked)
        #expect(vault.isWiped)
        let receipt = try home.receipt(key: key.publicKey)
        #expect(receipt.cause == .attempts)
        #expect(receipt.isComplete)
        #expect(receipt.keyOrigin == .enabled)
        #expect(receipt.strangers == 0)
        let results = Dictionary(uniqueKeysWithValues: receipt.items.map { ($0.target.description, $0.result) })
        for (name, result) in WipeTests.results { #expect(results[name] == result, "\(name)") }
        #expect(results["log"] == .erased)
        let left = try home.bytes("wipe-receipt")
        for secret in secrets { #expect(!left.contains(secret)) }
        for _ in 0..<2 { #expect(errorCode { _ = try home.open() } == .wiped) }
        #expect(errorCode { _ = try vault.burnAttempt() } == .wiped)
        #expect(errorCode { _ = try vault.status() } == .wiped)
    }

    @Test func withoutSelfDestructTheLimitDestroysNothingAndWarnsOfNothing() throws {
        let home = try TestHome()
        let vault = try home.filled()
        for number in 1...7 {
            home.clock.advance(seconds: 3601)
            let error = #expect(throws: VaultError.self) { try vault.guess(number) }
            #expect(error?.code == .wrongPasscode)
            #expect(error?.reason.contains("destroy") == false)
        }
        home.clock.advance(seconds: 3601)
        try vault.unlock("right")
        #expect(try vault.get("record 1") == pattern(300, seed: 1))
    }

    @Test func attemptsThatWereNeverCheckedCloseAndNeverDestroy() throws {
        let home = try TestHome()
        let box = try home.create()
        let vault = try home.open()
        try vault.setSelfDestruct(true)
        // Four wrong ones, one lost on the way.
        do { _ = try vault.burnAttempt() }
        for number in 1...4 {
            home.clock.advance(seconds: 3601)
            let error = #expect(throws: VaultError.self) { try vault.guess(number) }
            #expect(error?.code == .wrongPasscode)
            #expect(error?.reason.contains("self-destruct is on") == true)
        }
        for _ in 0..<3 {
            home.clock.advance(seconds: 3601)
            #expect(errorCode { _ = try vault.burnAttempt() } == .attemptsExhausted)
        }
        let again = try home.open()
        try again.unlock(phrase: box.phrase)
        #expect(try again.status().remainingAttempts == 5)
        #expect(try again.status().policy.selfDestruct)
    }

    @Test func aSuccessGivesAllAttemptsBackAndARepetitionCostsNone() throws {
        let home = try TestHome()
        let vault = try home.filled()
        try vault.setSelfDestruct(true)
        for number in 1...12 {
            home.clock.advance(seconds: 3601)
            #expect(errorCode { try vault.guess(number) } == .wrongPasscode)
            if number % 4 == 0 {
                home.clock.advance(seconds: 3601)
                try vault.unlock("right")
            }
        }
        for _ in 0..<12 {
            home.clock.advance(seconds: 3601)
            #expect(errorCode { try vault.guess(99) } == .wrongPasscode)
        }
        #expect(try vault.status().remainingAttempts == 4)
    }

    @Test func aLimitThatWasReachedIsFinishedAtTheNextStart() throws {
        let home = try TestHome()
        let vault = try home.filled()
        try vault.setSelfDestruct(true)
        // As a process leaves it that is killed between the ledger's flush and the mark.
        let id = try vault.id
        let sector = LedgerSector(
            vault: id, sequence: 99, spent: 5, refused: 5, delay: 0, delayStart: 0,
            bootID: [UInt8](repeating: 1, count: 16))
        let bytes = sector.encoded { BLAKE3.hash($0).bytes }
        try home.write(bytes + bytes, to: "ledger")
        #expect(errorCode { try vault.unlock("right") } == .wiped)
        #expect(try home.names() == ["wipe-receipt"])
        #expect(try home.receipt().cause == .attempts)

        // The same ledger under a header without self-destruct is no reason.
        let other = try TestHome()
        let kept = try other.filled()
        let its = LedgerSector(
            vault: try kept.id, sequence: 99, spent: 5, refused: 5, delay: 0, delayStart: 0,
            bootID: [UInt8](repeating: 1, count: 16)
        ).encoded { BLAKE3.hash($0).bytes }
        try other.write(its + its, to: "ledger")
        try other.open().unlock("right")
    }

    @Test func neitherThePhraseNorRecoveryComesBeforeTheWipe() throws {
        let home = try TestHome()
        let box = try home.create()
        let vault = try home.open()
        try vault.setSelfDestruct(true)
        let bytes = LedgerSector(
            vault: try vault.id, sequence: 99, spent: 5, refused: 5, delay: 0, delayStart: 0,
            bootID: [UInt8](repeating: 1, count: 16)
        ).encoded { BLAKE3.hash($0).bytes }
        try home.write(bytes + bytes, to: "ledger")
        #expect(errorCode { try vault.unlock(phrase: box.phrase) } == .wiped)
        #expect(try home.names() == ["wipe-receipt"])
        let new = try secret("new")
        #expect(errorCode { _ = try vault.recover(phrase: box.phrase, newPasscode: new) } == .wiped)
    }

    @Test func biometricFailuresReachTheLimitToo() throws {
        let home = try TestHome()
        let vault = try home.filled()
        #expect(try vault.countFailedBiometrics() == nil)
        try vault.setSelfDestruct(true)
        #expect(errorCode { try vault.guess(1) } == .wrongPasscode)
        for left in [3, 2, 1] { #expect(try vault.countFailedBiometrics() == left) }
        #expect(errorCode { _ = try vault.countFailedBiometrics() } == .wiped)
        #expect(try home.names() == ["wipe-receipt"])
        #expect(errorCode { _ = try vault.countFailedBiometrics() } == .wiped)
    }
}

extension [UInt8] {
    func contains(_ part: [UInt8]) -> Bool { Data(self).range(of: Data(part)) != nil }
}
