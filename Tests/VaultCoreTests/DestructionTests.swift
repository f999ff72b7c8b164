import Cryptography
import Foundation
import Synchronization
import TestSupport
import Testing
import VaultFormat
import VaultStorage

@testable import KeyStores
@testable import VaultCore
@testable import VaultHeader
@testable import VaultWipe

/// What a header says of self-destruct, before anybody has authenticated it, and what a key store outside of the folder
/// remembers.
@Suite struct DestructionTests {
    private let home: LevelHome

    init() throws {
        home = try LevelHome()
        _ = try Vault.create(at: home.path, passcode: secret("right"), settings: home.settings)
    }

    /// A vault with a share in the key store, and a passcode beside it.
    private func shared() throws -> LevelHome {
        let home = try LevelHome()
        _ = try home.opened()
        try home.rewrite { header, master in
            header.set(
                try Vault.passcodeSlot(
                    secret("right"), costs: home.settings.newCosts(), wrapping: master, header: header, nil))
        }
        return home
    }

    @Test func `a wipe that began where nothing could be asked takes no share from the key store`() throws {
        let home = try shared()
        try edit(home) { ($0.attemptLimit, $0.selfDestruct) = (3, true) }
        // A session without the keyring: the header alone decides.
        var without = home.settings
        without.shareStores = nil
        let blind = try Vault(at: home.path, settings: without)
        var last: VaultError?
        for number in 0..<3 {
            home.clock.advance(seconds: 7200)
            do { try blind.guess(number) } catch { last = error as? VaultError }
        }
        #expect(last?.code == .wiped)
        #expect(errorCode { _ = try Vault(at: home.path, settings: home.settings) } == .wiped)
        #expect(home.store.state.withLock { $0.shares.count } == 1, "a backup of the folder opens with it")
    }

    private func open(_ change: (inout VaultSettings) -> Void = { _ in }) throws -> Vault {
        var settings = home.settings
        change(&settings)
        return try Vault(at: home.path, settings: settings)
    }

    /// Gives both copies other rules under a right checksum, as whoever writes the folder can.
    private func edit(_ home: LevelHome? = nil, _ change: (inout VaultPolicy) -> Void) throws {
        let home = home ?? self.home
        var header = try home.header()
        change(&header.policy)
        let copy = try header.encoded { BLAKE3.hash($0).bytes }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: home.path + "/header"))
        try file.write(contentsOf: Data(copy + copy))
        try file.close()
    }

    /// Wrong passcodes up to a limit, as many as are taken, and the last error.
    private func guess(_ count: Int, with vault: Vault) -> VaultError? {
        var last: VaultError?
        for number in 0..<count {
            home.clock.advance(seconds: 7200)
            do { try vault.guess(number) } catch { last = error as? VaultError }
        }
        return last
    }

    private var noted: [[UInt8]] { home.store.state.withLock { Array($0.destructions.values) } }

    private func floor(_ limit: Int) throws -> [[UInt8]] {
        [DestructionFloor(try home.header().vault, limit: limit).encoded]
    }

    @Test func `an edited header destroys no vault that never destroys itself`() throws {
        let good = try Data(contentsOf: URL(fileURLWithPath: home.path + "/header"))
        try edit { ($0.attemptLimit, $0.selfDestruct) = (3, true) }
        let vault = try open()
        let error = guess(3, with: vault)
        #expect(error?.code == .attemptsExhausted)
        #expect(error?.remainingAttempts == 0)
        #expect(errorCode { _ = try vault.burnAttempt() } == .attemptsExhausted)
        #expect(try vault.status().isPasscodeClosed)
        _ = try open()  // a start does not destroy it either
        #expect(errorCode { try open().guess(9) } == .attemptsExhausted)
        // The header that was there opens it, at the pace of a vault whose limit is reached.
        try good.write(to: URL(fileURLWithPath: home.path + "/header"))
        home.clock.advance(seconds: 7200)
        try open().unlock("right")
    }

    @Test func `one that does is destroyed at its limit, and what was remembered goes`() throws {
        try open().setSelfDestruct(true)
        #expect(noted == (try floor(5)))
        #expect(guess(5, with: try open())?.code == .wiped)
        #expect(noted.isEmpty)
    }

    @Test func `a limit that was lowered on the disk closes and does not destroy`() throws {
        try open().setSelfDestruct(true)
        try edit { $0.attemptLimit = 3 }
        #expect(guess(3, with: try open())?.code == .attemptsExhausted)
        #expect(try Vault(at: home.path, settings: home.settings).status().isPasscodeClosed)
    }

    @Test func `a limit that its owner changes is followed`() throws {
        let vault = try open()
        try vault.setSelfDestruct(true)
        for limit in [3, 10, 4] {
            try vault.changePolicy(passcode: secret("right"), spending: vault.burnAttempt()) { $0.attemptLimit = limit }
            #expect(noted == (try floor(limit)))
        }
        #expect(guess(4, with: try open())?.code == .wiped)
    }

    @Test func `a key store that cannot be asked now destroys nothing, and later it does`() throws {
        try open().setSelfDestruct(true)
        home.store.state.withLock { $0.isAvailable = false }
        let error = guess(5, with: try open())
        #expect(error?.code == .attemptsExhausted)
        #expect(error?.reason.contains("once the key store can be asked") == true)
        #expect(errorCode { _ = try open().burnAttempt() } == .attemptsExhausted)
        home.store.state.withLock { $0.isAvailable = true }
        #expect(errorCode { _ = try open() } == .wiped)
    }

    @Test func `without a key store on the machine what the header says holds`() throws {
        try edit { ($0.attemptLimit, $0.selfDestruct) = (3, true) }
        let vault = try open { $0.shareStores = { _ in ShareStores([], floors: []) } }
        #expect(guess(3, with: vault)?.code == .wiped)
    }

    @Test func `what was not remembered is, once the vault was opened`() throws {
        let vault = try open { $0.shareStores = nil }
        try vault.setSelfDestruct(true)
        #expect(noted.isEmpty)
        try open().unlock("right")
        #expect(noted == (try floor(5)))
        // What somebody put in its place, too.
        home.store.state.withLock { state in for place in state.destructions.keys { state.destructions[place] = [7] } }
        try open().unlock("right")
        #expect(noted == (try floor(5)))
    }

    @Test func `another folder's key, or none, makes nothing of this folder be destroyed`() throws {
        try open().setSelfDestruct(true)
        try FileManager.default.removeItem(atPath: home.path + "/wipe.key")
        #expect(guess(5, with: try open())?.code == .attemptsExhausted)
    }

    @Test func `switched off it is remembered no longer`() throws {
        let vault = try open()
        try vault.setSelfDestruct(true)
        try vault.setSelfDestruct(false)
        #expect(noted.isEmpty)
        try edit { $0.selfDestruct = true }
        #expect(guess(5, with: try open())?.code == .attemptsExhausted)
    }

    @Test func `what a switch has left that was cut off goes with the next unlock`() throws {
        let vault = try open()
        try vault.setSelfDestruct(true)
        let on = try Data(contentsOf: URL(fileURLWithPath: home.path + "/receipt.key"))
        let floors = home.store.state.withLock { $0.destructions }
        try vault.setSelfDestruct(false)
        try on.write(to: URL(fileURLWithPath: home.path + "/receipt.key"))
        home.store.state.withLock { $0.destructions = floors }
        try open().unlock("right")
        #expect(noted.isEmpty)
    }

    @Test func `a recovery that resets the rules leaves nothing of self-destruct`() throws {
        let home = try LevelHome()
        let phrase = RecoveryPhraseBox(
            try Vault.create(at: home.path, passcode: secret("right"), settings: home.settings))
        let vault = try Vault(at: home.path, settings: home.settings)
        try vault.setSelfDestruct(true)
        try edit(home) { $0.attemptLimit = 4 }
        _ = try Vault(at: home.path, settings: home.settings).recover(
            phrase: phrase.phrase, newPasscode: secret("new"))
        #expect(try !home.header().policy.selfDestruct)
        #expect(home.store.state.withLock { $0.destructions.isEmpty })
        #expect(try vault.wipeReceiptKey == nil)
    }

    @Test func `switching it off forgets it for both keys, where the folder's was taken away`() throws {
        try open().setSelfDestruct(true)
        try FileManager.default.removeItem(atPath: home.path + "/wipe.key")
        try open().setSelfDestruct(false)
        #expect(noted.isEmpty)
    }

    @Test func `a switch that is refused leaves everything as it was, in both stores`() throws {
        let lesser = ModelStore(.file)
        let settings: (inout VaultSettings) -> Void = { [home] in
            $0.shareStores = { _ in ShareStores([home.store], floors: [home.store, lesser]) }
        }
        try open(settings).setSelfDestruct(true)
        lesser.state.withLock { $0.isAvailable = false }
        #expect(errorCode { try open(settings).setSelfDestruct(false) } == .shareUnavailable)
        #expect(noted == (try floor(5)))
        #expect(try home.header().policy.selfDestruct)
        // The best one takes it, whatever a lesser one says.
        lesser.state.withLock { $0.isAvailable = true }
        try open(settings).setSelfDestruct(false)
        lesser.state.withLock { $0.isAvailable = false }
        try open(settings).setSelfDestruct(true)
        #expect(noted == (try floor(5)))
    }

    /// Each call of the key store fails once, in both directions.
    @Test func `what is remembered is never more than the header says, whichever call fails`() throws {
        for isOn in [true, false] {
            var failed = 0
            for call in 0..<12 {
                let vault = try open()
                if try home.header().policy.selfDestruct == isOn { try vault.setSelfDestruct(!isOn) }
                home.store.state.withLock { $0.failsIn = call }
                do { try vault.setSelfDestruct(isOn) } catch {
                    failed += 1
                    #expect((error as? VaultError)?.code == .shareUnavailable, "call \(call)")
                    #expect(try home.header().policy.selfDestruct != isOn, "call \(call)")
                }
                home.store.state.withLock { $0.failsIn = nil }
                let isSaid = try home.header().policy.selfDestruct
                #expect(isSaid || noted.isEmpty, "call \(call) of switching it \(isOn ? "on" : "off")")
                try open().unlock("right")
                #expect(noted == (isSaid ? try floor(5) : []), "call \(call), after an unlock")
            }
            #expect(failed > 0)
        }
    }

    @Test func `the decision looks at both limits`() {
        let rules: [DestructionRule] = [.unkept, .unknown, .unanswered, .after(3), .after(5), .after(10)]
        let decisions: [DestructionRule.Decision] = [.destroy, .close, .wait, .destroy, .destroy, .close]
        #expect(rules.map { $0.decision(refused: 5, limit: 5) } == decisions)
        #expect(DestructionRule.after(3).decision(refused: 4, limit: 5) == .close)
        #expect(DestructionRule.after(10).decision(refused: 10, limit: 3) == .destroy)
    }
}
