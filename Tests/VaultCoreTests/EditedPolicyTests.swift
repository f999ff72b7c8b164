import Cryptography
import SecretMemory
import TestSupport
import Testing
import VaultFormat

@testable import VaultCore
@testable import VaultStorage

/// Rules that somebody without the passcode changed on the disk.
@Suite(.seeded) struct EditedPolicyTests {
    private let home: TestHome
    private let good: [UInt8]
    private let policyBytes: [UInt8]
    private let phrase: RecoveryPhraseBox

    /// A vault with rules of version 2 and one record.
    init() throws {
        home = try TestHome()
        phrase = try home.create()
        let vault = try home.open()
        try vault.unlock("right")
        try vault.put([1, 2, 3], "kept")
        let passcode = try secret("right")
        try vault.setSelfDestruct(true)
        let policy = try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { policy in
            policy.isLockEnabled = true
            policy.selfDestructCountdown = 600
            policy.collectionMinima = ["work": .keyBound]
            policy.fallback = .convenient
        }
        policyBytes = try policy.encoded()
        good = try home.bytes("header")
    }

    /// Puts other policy bytes of the same size into both copies, under a right checksum.
    private func install(_ bytes: [UInt8]) throws {
        let start = 54  // vault-format.md 4
        var header: [UInt8] = []
        for copy in 0..<2 {
            var all = Array(good[(copy * Header.copySize)..<((copy + 1) * Header.copySize)])
            try #require(Array(all[start..<start + policyBytes.count]) == policyBytes)
            all.replaceSubrange(start..<start + bytes.count, with: bytes)
            let covered = Array(all.dropLast(32))
            header += covered + covered.withRawSpan { BLAKE3.hash($0).bytes }
        }
        try home.write(header, to: "header")
    }

    private func expectWhole() throws {
        try home.write(good, to: "header")
        let vault = try home.open()
        try vault.unlock("right")
        #expect(try vault.get("kept") == [1, 2, 3])
        #expect(try vault.status().remainingAttempts == 5)
    }

    @Test func everyChangedByteKeepsTheRightPasscodeOut() throws {
        var generator = SeededGenerator()
        var read = 0
        for offset in policyBytes.indices {
            for mask in [0x01, 0x80, UInt8.random(in: 1...255, using: &generator)] as [UInt8] {
                var changed = policyBytes
                changed[offset] ^= mask
                try install(changed)
                let place = "offset \(offset), mask \(mask)"
                let vault: Vault
                do throws(VaultError) {
                    vault = try Vault(at: home.path, settings: home.settings)
                } catch {
                    #expect(error.code == .damaged, "\(place)")
                    continue
                }
                read += 1
                #expect(errorCode("\(place) was taken") { try vault.unlock("right") } == .damaged, "\(place)")
                #expect(!vault.isUnlocked && vault.authenticatedPolicy == nil)
                #expect(errorCode { try vault.unlock(phrase: phrase.phrase) } == .damaged)
                #expect(errorCode { _ = try vault.get("kept") } == .locked)
            }
        }
        #expect(read > 20, "most changes give other rules that can be read")
        try expectWhole()
    }

    @Test func everyMalformedPolicyIsATypedErrorAndChangesNothing() throws {
        let fields: [(Int, [UInt8])] = [
            (0, [0]), (0, [3]), (1, [2]), (1, [11]), (2, [2]), (7, [0]), (7, [17]), (8, [0xFF, 0xFF, 0xFF, 0xFF]),
            (40, [0xFF, 0xFF]),
        ]
        for (offset, bytes) in fields {
            var changed = policyBytes
            changed.replaceSubrange(offset..<offset + bytes.count, with: bytes)
            try install(changed)
            let written = try home.bytes("header")
            let error = #expect(throws: VaultError.self) { _ = try home.open() }
            #expect(error?.code == .damaged && error?.reason.contains("policy") == true, "\(error?.reason ?? "none")")
            #expect(try home.bytes("header") == written)
        }
        try expectWhole()
    }

    @Test func thePhraseInstallsTheStandardRules() throws {
        var changed = policyBytes
        changed[1] = 10
        try install(changed)
        let vault = try home.open()
        let new = try secret("next")
        #expect(try vault.recover(phrase: phrase.phrase, newPasscode: new).headerWasAltered)
        #expect(try vault.status().policy == .standard)
        #expect(try vault.get("kept") == [1, 2, 3])
    }
}
