import Foundation
import Cryptography
import KeyStores
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultFormat
import VaultLog
import VaultStorage

@testable import DeviceOwner
@testable import VaultCore
@testable import VaultHeader

/// What others can plant or take away, and what only looks like a way in.
@Suite struct LevelFaultTests {
    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    // MARK: whose a share is

    @Test func `a planted note in a backup takes no share from the vault that it was copied from`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        let phrase = RecoveryPhraseBox(try Vault.newRecoveryPhrase())
        try home.plant(phrase)
        _ = try vault.backup(to: home.place("backup"))
        let live = try #require(home.header().shareItems.first)
        var note = HardwareNote()
        (note.owed, note.leaving, note.coming) = ([live], [live], [live])
        let copy = try Vault(at: home.place("backup"), settings: home.settings)
        // At the last moment: one that lies there before is put aside, because it has no tag of this vault.
        let planted = note
        _ = try copy.wipe(phrase: phrase.phrase) { _ throws(VaultError) in try planted.write(in: copy.home, []) }
        #expect(home.store.state.withLock { $0.shares.count } == 1)
        vault.lock()
        try home.open().openByDevice()
    }

    @Test func `a name shows the vault and the home that it was made for`() throws {
        let vault = try #require(VaultID(bytes: Array(1...16)))
        let mine = HardwareOwner(vault: vault, home: [UInt8](repeating: 1, count: 32))
        let name = try ShareName.fresh(for: mine)
        #expect(name.belongs(to: mine))
        #expect(!name.belongs(to: HardwareOwner(vault: vault, home: [UInt8](repeating: 2, count: 32))))
        let other = try #require(VaultID(bytes: Array(2...17)))
        #expect(!name.belongs(to: HardwareOwner(vault: other, home: mine.home)))
        for index in 0..<16 {
            var nonce = name.nonce
            nonce[index] ^= 1
            #expect(try !#require(ShareName(vault: vault, nonce: nonce)).belongs(to: mine))
        }
        #expect(try ShareName.fresh(for: mine) != name)
    }

    @Test(.enabled(if: Decryptor.python != nil, Decryptor.missing))
    func `the Python reader sees whose a share is`() throws {
        let home = try LevelHome()
        try home.opened().lock()
        func describe() throws -> String { try Decryptor.describe(home.path).text }
        let own = try describe()
        #expect(own.contains("\"own\": true"), "\(own)")
        try home.rewrite { header, _ in header.home[0] ^= 1 }
        #expect(try describe().contains("\"own\": false"))
    }

    @Test func `without its own key in the folder a raise asks first, and then takes the old share away`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: home.path + "/header"))
        try FileManager.default.removeItem(atPath: home.path + "/wipe.key")
        #expect(refuses(.hardwareUnclaimed) { try vault.change(to: .secret("right"), proving: vault.proveNobody()) })
        #expect(try Data(contentsOf: URL(fileURLWithPath: home.path + "/header")) == bytes)
        var wish = try LevelTarget.secret("right")
        wish.hardware = .claim
        try vault.change(to: wish, proving: vault.proveNobody())
        #expect(home.store.state.withLock { $0.shares.isEmpty })
        #expect(exists(home.path + "/wipe.key"))
    }

    @Test func `a restored home drops the original's shares with its first secret, and touches none of them`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        try vault.put([1], "name")
        let phrase = RecoveryPhraseBox(try Vault.newRecoveryPhrase())
        try home.plant(phrase)
        _ = try vault.backup(to: home.place("backup"))
        _ = try Vault.restore(from: home.place("backup"), to: home.place("restored"))
        let restored = try Vault(at: home.place("restored"), settings: home.settings)
        #expect(refuses(.shareLost) { try restored.openByDevice() })
        try restored.unlock(phrase: phrase.phrase)
        #expect(try restored.get("name") == [1])
        let header = try HeaderFile.read(in: HomeDirectory(path: home.place("restored")))
        #expect(try header.slots.map(\.kind) == [.recoveryPhrase] && header.home != home.header().home)
        restored.lock()
        #expect(refuses(.passcodeNeeded) { try restored.openByDevice() })
        #expect(home.store.state.withLock { $0.shares.count } == 1)
        vault.lock()
        try home.open().openByDevice(accepting: true)
    }

    // MARK: the floor

    @Test func `a floor that cannot be understood is confirmed once, and never locks out for good`() throws {
        let home = try LevelHome()
        try home.opened().lock()
        home.store.state.withLock { $0.isFloorStrange = true }
        let vault = try home.open()
        #expect(refuses(.levelLowered) { try vault.openByDevice() })
        #expect(!vault.isUnlocked)
        try vault.openByDevice(accepting: true)
        vault.lock()
        try vault.openByDevice()
        #expect(try home.store.state.withLock { $0.floor } == home.header().present)
        // Where the folder is empty it is no place for a silent new vault, and its user can begin anew.
        vault.lock()
        home.store.state.withLock { $0.isFloorStrange = true }
        try FileManager.default.removeItem(atPath: home.path)
        #expect(refuses(.vaultMissing) { _ = try Vault.start(at: home.path, settings: home.settings) })
        #expect(try Vault.startOver(at: home.path, settings: home.settings) == nil)
        try home.open().openByDevice()
    }

    @Test func `a home of another vault at owner is called that, and not a lost share`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        try vault.change(to: .owner(), proving: vault.proveNobody())
        vault.lock()
        let other = VaultID(bytes: Array(1...16)).map { LevelFloor($0, .device) }
        home.store.state.withLock { ($0.floor, $0.shares) = (other, [:]) }
        let found = try home.open()
        found.loadKeptOwner()
        #expect(refuses(.levelLowered) { try found.unlock(release()) })
        #expect(found.ownerState.isArmed, "nobody's enrollment changed")
        // Its user has said that it is the right one: then the share is what is missing.
        #expect(refuses(.shareLost) { try found.unlock(release(), accepting: true) })
        #expect(home.store.state.withLock { $0.floor } == other, "nothing is written for a header that nobody proved")
    }

    @Test func `no floor is written for a header that nobody proved`() throws {
        let home = try LevelHome()
        try home.opened().lock()
        let other = VaultID(bytes: Array(1...16)).map { LevelFloor($0, .secret) }
        home.store.state.withLock { ($0.floor, $0.shares) = (other, [:]) }
        let found = try home.open()
        #expect(refuses(.levelLowered) { try found.openByDevice() })
        #expect(refuses(.shareLost) { try found.openByDevice(accepting: true) })
        #expect(home.store.state.withLock { $0.floor } == other)
    }

    @Test func `a wipe says first what becomes of copies that open with the share`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        #expect(try vault.wipeWarnings().count == 1)
        try FileManager.default.copyItem(atPath: home.path, toPath: home.place("copy"))
        let copy = try Vault(at: home.place("copy"), settings: home.settings)
        #expect(try copy.wipeWarnings().count == 2, "the share may be another folder's, too")
        try FileManager.default.removeItem(atPath: home.place("copy") + "/wipe.key")
        #expect(try copy.wipeWarnings().count == 1)
        #expect(try copy.wipeWarnings() != vault.wipeWarnings())
        try vault.change(to: .secret("right"), proving: vault.proveNobody())
        #expect(try vault.wipeWarnings() == [])
    }

    @Test func `the floor rises after the old share is gone, and before the note is`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        let old = try #require(home.header().shareItems.first?.name)
        home.store.watch.withLock {
            $0 = { [store = home.store, path = home.path] in
                let state = store.state.withLock { $0 }
                guard state.floor?.level == .secret else { return }
                #expect(state.shares[old] == nil)
                #expect(FileManager.default.fileExists(atPath: path + "/hardware.pending"))
            }
        }
        try vault.change(to: .secret("right"), proving: vault.proveNobody())
        home.store.watch.withLock { $0 = nil }
        #expect(home.store.state.withLock { $0.floor?.level } == .secret)
    }

    @Test func `a secret brings the floor up to the vault: the passcode, the PIN and the phrase`() throws {
        let home = try LevelHome()
        var settings = home.settings
        settings.tier = CountingChip()
        let vault = try home.opened(settings)
        let phrase = RecoveryPhraseBox(try Vault.newRecoveryPhrase())
        var wish = try LevelTarget.secret("right")
        wish.phrase = try RecoveryPhrase(entropy: phrase.phrase.withEntropy { try SecretBytes(copying: $0) })
        try vault.change(to: wish, proving: vault.proveNobody())
        try vault.finishRekey()
        try vault.enrollPIN(secret("2580"), passcode: secret("right"), spending: vault.burnAttempt())
        let present = try home.header().present
        for (name, open) in [
            ("passcode", { try vault.unlock("right") }),
            ("PIN", { try vault.unlock(pin: secret("2580"), spending: vault.burnAttempt()) }),
            ("phrase", { try vault.unlock(phrase: phrase.phrase) }),
        ] as [(String, () throws -> Void)] {
            vault.lock()
            home.store.state.withLock { $0.floor = nil }
            try open()
            #expect(home.store.state.withLock { $0.floor } == present, "\(name)")
        }
    }

    // MARK: proofs

    @Test func `the owner at device is a proof only if a share comes back`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        home.store.state.withLock { $0.takesOwner = false }
        #expect(
            refuses(VaultError.Code(.notConfirmed)) {
                _ = try vault.proveOwner(atDevice: release(), after: [.devicePasscode])
            })
        #expect(home.store.state.withLock { $0.shares.count } == 1)
        #expect(!exists(home.path + "/hardware.pending"))
        home.store.state.withLock { $0.takesOwner = true }
        var wish = try LevelTarget.secret("right")
        wish.canAskOwner = true
        try vault.change(to: wish, proving: vault.proveOwner(atDevice: release(), after: [.devicePasscode]))
        #expect(home.store.state.withLock { $0.shares.isEmpty } && !exists(home.path + "/hardware.pending"))
    }

    @Test func `a scratch share whose process ended goes at the next start`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        let cut = SnapshotBox()
        home.store.watch.withLock { $0 = { cut.takeLast(home.snapshot("cut-\(cut.count)")) } }
        _ = try vault.proveOwner(atDevice: release(), after: [.devicePasscode])
        home.store.watch.withLock { $0 = nil }
        let all = cut.all
        #expect(all.contains { $0.state.shares.count == 2 })
        for snapshot in all {
            let store = ModelStore()
            store.state.withLock { $0 = snapshot.state }
            try Vault(at: snapshot.path, settings: home.settings(store)).openByDevice()
            #expect(store.state.withLock { $0.shares.count } == 1, "\(snapshot.path)")
        }
    }

    @Test func `rules that ask nobody and a lock do not come together`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        try home.rewrite { header, master in
            header.set(
                try Vault.passcodeSlot(
                    secret("right"), costs: home.settings.newCosts(), wrapping: master, header: header, nil))
        }
        let before = try home.header().policy
        #expect(
            refuses(.invalidPolicy) {
                try vault.changePolicy(passcode: secret("right"), spending: vault.burnAttempt()) { policy in
                    policy.isLockEnabled = true
                }
            })
        #expect(
            refuses(.invalidPolicy) {
                _ = try vault.changeSelfDestruct(
                    to: true, passcode: secret("right"), spending: vault.burnAttempt(), approve: {})
            })
        #expect(try home.header().policy == before)
    }

    // MARK: the end

    @Test func `a wipe without the key store is not complete until the share is gone`() throws {
        let home = try LevelHome()
        let vault = try home.opened()
        let proof = try vault.proveNobody()
        _ = consume proof
        let phrase = RecoveryPhraseBox(try Vault.newRecoveryPhrase())
        try home.plant(phrase)
        vault.lock()
        var without = home.settings
        without.shareStores = nil
        let blind = try Vault(at: home.path, settings: without)
        let report = try blind.wipe(phrase: phrase.phrase) { _ throws(VaultError) in }
        #expect(!report.isFinished)
        #expect(home.store.state.withLock { $0.shares.count } == 1)
        // The next start that has the store ends it.
        #expect(refuses(.wiped) { _ = try Vault.start(at: home.path, settings: home.settings).openByDevice() })
        #expect(home.store.state.withLock { $0.shares.isEmpty })
    }

    @Test(arguments: [0, 16, 31, 33]) func `a share of another size opens nothing and is no padding`(_ size: Int) throws
    {
        let home = try LevelHome()
        try home.opened().lock()
        home.store.state.withLock { state in
            for (name, bytes) in state.shares {
                state.shares[name] = Array((bytes + [0]).prefix(size))
            }
        }
        let vault = try home.open()
        #expect(refuses(.damaged) { try vault.openByDevice() })
    }

    private func refuses(_ code: VaultError.Code, _ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch {
            let found = (error as? VaultError)?.code
            if found != code { Issue.record("\(error)") }
            return found == code
        }
    }
}

/// Cuts, in the order in which they were taken.
private final class SnapshotBox: Sendable {
    private let snapshots = Mutex<[LevelHome.Snapshot]>([])
    var count: Int { snapshots.withLock { $0.count } }
    var all: [LevelHome.Snapshot] { snapshots.withLock { $0 } }
    func takeLast(_ snapshot: LevelHome.Snapshot) { snapshots.withLock { $0.append(snapshot) } }
}
