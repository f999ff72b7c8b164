import Foundation
import KeyStores
import SecretMemory
import Synchronization
import TestSupport
import Testing
@testable import VaultCore
@testable import VaultHeader
import VaultFormat
@testable import VaultStorage

/// A key store of the tests: outside the home, as a chip's is.
final class TestAnchor: GenerationAnchor {
    private let held = Mutex<[HardwareOwner: AnchoredState]>([:])
    private let isAbsent = Mutex(false)
    private let refusedWrites = Mutex(0)

    var count: Int { held.withLock { $0.count } }
    func unplug(_ absent: Bool) { isAbsent.withLock { $0 = absent } }
    func refuse(writes: Int) { refusedWrites.withLock { $0 = writes } }
    func forget() { held.withLock { $0 = [:] } }
    func set(_ state: AnchoredState, of owner: HardwareOwner) { held.withLock { $0[owner] = state } }

    private func checkPresence() throws(KeyStoreError) {
        if isAbsent.withLock({ $0 }) { throw KeyStoreError(.unavailable, "absent") }
    }

    func state(of owner: HardwareOwner) throws(KeyStoreError) -> AnchoredState? {
        try checkPresence()
        return held.withLock { $0[owner] }
    }

    func hold(_ state: AnchoredState, of owner: HardwareOwner) throws(KeyStoreError) {
        try checkPresence()
        let isRefused = refusedWrites.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        if isRefused { throw KeyStoreError(.unavailable, "busy") }
        held.withLock { $0[owner] = state }
    }

    func release(_ owner: HardwareOwner) throws(KeyStoreError) {
        try checkPresence()
        held.withLock { $0[owner] = nil }
    }
}

@Suite struct AnchorTests {
    let home: TestHome
    let anchor = TestAnchor()
    let vault: Vault
    let phrase: RecoveryPhraseBox

    init() throws {
        home = try TestHome()
        phrase = try home.create()
        var settings = home.settings
        settings.anchor = anchor
        vault = try Vault(at: home.path, settings: settings)
        let passcode = try secret("right")
        try vault.anchorGeneration(passcode: passcode, spending: vault.burnAttempt())
    }

    /// Every file of the home.
    func copyAway() throws -> [String: [UInt8]] {
        try ["header", "ledger"].reduce(into: [:]) { $0[$1] = try home.bytes($1) }
    }

    func copyBack(_ files: [String: [UInt8]]) throws {
        for (name, bytes) in files { try home.write(bytes, to: name) }
    }

    @Test func attemptsBurnedAndCopiedBackAreNoticed() throws {
        try vault.unlock("right")
        let copy = try copyAway()
        #expect(errorCode { try vault.unlock("wrong 1") } == .wrongPasscode)
        #expect(errorCode { try vault.unlock("wrong 2") } == .wrongPasscode)
        try copyBack(copy)
        #expect(errorCode { try vault.unlock("wrong 3") } == .rollbackSuspected)
        #expect(errorCode { try vault.unlock("right") } == .rollbackSuspected)
        try vault.unlock(phrase: phrase.phrase)
        vault.lock()
        try vault.unlock("right")
        #expect(try vault.status().remainingAttempts == 5)
    }

    @Test func anOldHeaderCopiedBackIsNoticed() throws {
        let copy = try copyAway()
        try vault.changePasscode("right", "new")
        try copyBack(copy)
        #expect(errorCode { try vault.unlock("right") } == .rollbackSuspected)
        let new = try secret("newer")
        _ = try vault.recover(phrase: phrase.phrase, newPasscode: new)
        vault.lock()
        try vault.unlock("newer")
    }

    @Test func aCopyFromBeforeTheAnchorIsNoticed() throws {
        let other = try TestHome()
        _ = try other.create()
        let plain = ["header": try other.bytes("header"), "ledger": try other.bytes("ledger")]
        var settings = other.settings
        settings.anchor = anchor
        let vault = try Vault(at: other.path, settings: settings)
        let passcode = try secret("right")
        try vault.anchorGeneration(passcode: passcode, spending: vault.burnAttempt())
        for (name, bytes) in plain { try other.write(bytes, to: name) }
        #expect(errorCode { try vault.unlock("right") } == .rollbackSuspected)
    }

    @Test func withoutItsKeyStoreOnlyThePhraseOpens() throws {
        #expect(errorCode { try home.open().unlock("right") } == .hardwareUnavailable)
        anchor.unplug(true)
        #expect(errorCode { try vault.unlock("right") } == .hardwareUnavailable)
        #expect(try vault.status().remainingAttempts == 5)
        anchor.unplug(false)
        anchor.forget()
        #expect(errorCode { try vault.unlock("right") } == .rollbackSuspected)
        // Another machine, without any: the phrase takes the vault along.
        let elsewhere = try home.open()
        let new = try secret("new")
        _ = try elsewhere.recover(phrase: phrase.phrase, newPasscode: new)
        try home.open().unlock("new")
    }

    @Test func aKeyStoreThatMissesOneHeaderCatchesUp() throws {
        let passcode = try secret("right")
        // Not the burned attempt's write: the header's.
        let attempt = try vault.burnAttempt()
        anchor.refuse(writes: 1)
        try vault.changePolicy(passcode: passcode, spending: attempt) { $0.attemptLimit = 4 }
        try vault.unlock("right")
        #expect(try anchor.state(of: HeaderFile.read(in: vault.home).owner)?.generation == 3)
    }

    /// Two headers one after the other, of neither of which the key store is told: the second one is not written.
    @Test func `a key store that is away throughout a rekey falls no two headers behind`() throws {
        let attempt = try vault.burnAttempt()
        anchor.refuse(writes: 100)
        try vault.rekey(
            passcode: secret("right"), spending: attempt, newPasscode: secret("next"),
            phrase: Vault.newRecoveryPhrase(), isNewPhrase: true)
        #expect(errorCode { try vault.finishRekey() } == .hardwareUnavailable)
        anchor.refuse(writes: 0)
        vault.lock()
        try vault.unlock("next")
        try vault.finishRekey()
        #expect(try !vault.isRekeyUnfinished)
        vault.lock()
        try vault.unlock("next")
    }

    @Test func aKeyStoreThatCannotBeWrittenCostsNoAttempt() throws {
        anchor.refuse(writes: 1)
        #expect(errorCode { try vault.unlock("wrong") } == .hardwareUnavailable)
        #expect(try vault.status().remainingAttempts == 5)
        try vault.unlock("right")
    }

    @Test func theVerdictOfEveryPairOfStates() {
        for generation: UInt64 in 1...4 {
            for attempts: UInt64 in 1...4 {
                let present = AnchoredState(generation: generation, attempts: attempts)
                for heldGeneration: UInt64 in 1...4 {
                    for heldAttempts: UInt64 in 1...4 {
                        let held = AnchoredState(generation: heldGeneration, attempts: heldAttempts)
                        let verdict = AnchorVerdict(isAnchored: true, held: held, present: present)
                        let isFine =
                            attempts >= heldAttempts && (heldGeneration...heldGeneration + 1).contains(generation)
                        if isFine {
                            #expect(verdict == (generation == heldGeneration ? .current : .mustCatchUp))
                        } else if case .rolledBack = verdict {
                        } else {
                            Issue.record("\(present) against \(held) is \(verdict)")
                        }
                    }
                }
            }
        }
        let one = AnchoredState(generation: 1, attempts: 1)
        #expect(AnchorVerdict(isAnchored: false, held: nil, present: one) == .current)
        #expect(AnchorVerdict(isAnchored: true, held: nil, present: one) != .current)
        // What the store was told of a header that was never written, and is ahead of, level with, or behind.
        for generation: UInt64 in 1...4 {
            for attempts: UInt64 in 1...3 {
                let held = AnchoredState(generation: 3, attempts: 2)
                let present = AnchoredState(generation: generation, attempts: attempts)
                let isCurrent = AnchorVerdict(isAnchored: false, held: held, present: present) == .current
                #expect(isCurrent == (generation >= 2 && attempts >= 2), "\(present)")
            }
        }
    }
}
