import Foundation
import Synchronization
import TestSupport
import Testing
import VaultFormat
import VaultLog
import VaultStorage

@testable import DeviceOwner
@testable import KeyStores
@testable import VaultCore
@testable import VaultHeader

/// The owner's way in, on the disk and in one process: what lies in the key store for it, and when it goes.
@Suite struct KeptOwnerTests {
    private let home: LevelHome
    private let vault: Vault

    init() throws {
        home = try LevelHome()
        let passcode = try secret("right")
        _ = try Vault.create(at: home.path, passcode: passcode, settings: home.settings)
        vault = try home.open()
        let fallback = try FallbackPolicy([
            .init(.devicePasscode, assurance: .presence),
            .init(.appPasscode, assurance: .keyBound, when: [.failed, .expired, .unavailable]),
        ])
        try vault.changePolicy(passcode: passcode, spending: vault.burnAttempt()) { $0.fallback = fallback }
    }

    private var shares: [ShareName] { home.store.state.withLock { Array($0.shares.keys) } }

    private func isNoted(_ path: String? = nil) -> Bool {
        FileManager.default.fileExists(atPath: (path ?? home.path) + "/hardware.pending")
    }

    private func keep() throws {
        try vault.keepOwner(passcode: secret("right"), spending: vault.burnAttempt(), enrollment: nil)
    }

    /// Opens a home with the kept way in.
    private func open(_ path: String, _ store: ModelStore) throws -> Vault {
        let vault = try Vault(at: path, settings: home.settings(store))
        vault.loadKeptOwner()
        let slot = try #require(HeaderFile.read(in: HomeDirectory(path: path)).ownerSlots.first)
        try vault.unlock(release(.devicePasscode, OwnerSlotData(parsing: slot.kindData).secret))
        return vault
    }

    @Test func `a kept way in opens after a restart, and its share goes with it`() throws {
        try keep()
        #expect(shares.count == 1 && !isNoted())
        #expect(try open(home.path, home.store).isUnlocked)
        try keep()
        #expect(shares.count == 1 && !isNoted(), "the second takes the place of the first")
        try vault.dropKeptOwner(passcode: secret("right"), spending: vault.burnAttempt(), insisting: true)
        #expect(shares.isEmpty && !isNoted())
    }

    @Test func `cut off at any step, nothing stays in the store that no note and no header names`() throws {
        let snapshots = Mutex<[LevelHome.Snapshot]>([])
        home.store.watch.withLock { [home] watch in
            watch = {
                snapshots.withLock { $0.append(home.snapshot("cut-\($0.count)")) }
            }
        }
        try keep()
        try keep()
        home.store.watch.withLock { $0 = nil }
        let cuts = snapshots.withLock { $0 }
        #expect(cuts.count >= 6, "two makings and a revocation, before and after")
        for cut in cuts {
            let store = ModelStore()
            store.state.withLock { $0 = cut.state }
            let vault = try Vault(at: cut.path, settings: home.settings(store))
            try vault.unlock("right")
            let named = try HeaderFile.read(in: HomeDirectory(path: cut.path)).shareItems.map(\.name)
            #expect(store.state.withLock { Set($0.shares.keys) } == Set(named), "\(cut.path)")
            #expect(!isNoted(cut.path))
            if !named.isEmpty { #expect(try open(cut.path, store).isUnlocked) }
        }
    }

    @Test(arguments: 1...3) func `a store that fails leaves nothing`(_ call: Int) throws {
        home.store.state.withLock { $0.failsIn = call - 1 }
        #expect(errorCode { try keep() } != nil)
        home.store.state.withLock { $0.failsIn = nil }
        try vault.unlock("right")
        #expect(shares.isEmpty && !vault.keepsOwner && !isNoted())
    }

    @Test func `a lost share asks for the passcode`() throws {
        try keep()
        home.store.state.withLock { $0.shares = [:] }
        #expect(errorCode { _ = try open(home.path, home.store) } == .passcodeNeeded)
        try vault.unlock("right")
    }

    @Test func `a copy that is wiped takes nothing from the original, whose own wipe takes all`() throws {
        try keep()
        let copy = home.place("copy")
        _ = try vault.backup(to: copy)
        let other = try Vault(at: copy, settings: home.settings)
        _ = try other.wipe(passcode: secret("right"), spending: other.burnAttempt()) { _ throws(VaultError) in }
        #expect(try open(home.path, home.store).isUnlocked)
        _ = try vault.wipe(passcode: secret("right"), spending: vault.burnAttempt()) { _ throws(VaultError) in }
        #expect(shares.isEmpty)
    }

    @Test func `the share of a process that was killed is replaced by the next and ends with a wipe`() throws {
        var settings = home.settings
        settings.armsOwner = true
        for _ in 0..<2 {
            let killed = try Vault(at: home.path, settings: settings)
            try killed.unlock("right")
            #expect(killed.ownerState.isArmed)
            #expect(shares.count == 1 && !isNoted())
        }
        _ = try vault.wipe(passcode: secret("right"), spending: vault.burnAttempt()) { _ throws(VaultError) in }
        #expect(shares.isEmpty)
    }

    // MARK: The share of a process

    /// Opened with the passcode, with a way in for the owner until the process ends.
    private func armed(_ path: String? = nil) throws -> Vault {
        var settings = home.settings
        settings.armsOwner = true
        let vault = try Vault(at: path ?? home.path, settings: settings)
        try vault.unlock("right")
        #expect(vault.ownerState.isArmed)
        return vault
    }

    private func unlockByOwner(_ vault: Vault) throws {
        vault.lock()
        guard let release = vault.ownerKeeper.release(.devicePasscode) else {
            Issue.record("nothing is released")
            return
        }
        try vault.unlock(release)
    }

    @Test func `the process's share of a copy is the copy's and ends with its wipe`() throws {
        let (backup, restored) = (home.place("backup"), home.place("restored"))
        _ = try vault.backup(to: backup)
        _ = try Vault.restore(from: backup, to: restored)
        let copy = try armed(restored)
        let original = try armed()
        #expect(shares.count == 2)
        try unlockByOwner(copy)
        _ = try copy.wipe(passcode: secret("right"), spending: copy.burnAttempt()) { _ throws(VaultError) in }
        #expect(shares.count == 1)
        try unlockByOwner(original)
    }

    #if !canImport(Darwin)
    // A keychain asks the owner by itself, and does not say why a share is gone.

    @Test func `a second process takes the place of the first, which says so and leaves it alone`() throws {
        let first = try armed()
        let second = try armed()
        first.lock()
        do {
            try unlockByOwner(first)
            Issue.record("the first process still opens")
        } catch let error as VaultError {
            #expect(error.code == .passcodeNeeded)
            #expect(error.reason.contains("another program"))
        }
        #expect(!first.ownerState.isArmed)
        try unlockByOwner(second)
        let events = try second.securityLog().entries.map(\.event.name)
        #expect(!events.contains("enrollmentChanged"))
    }

    @Test func `a process whose share was replaced and let go of logs no changed enrollment`()
        throws
    {
        let first = try armed()
        try armed().forgetOwner()
        #expect(shares.isEmpty)
        do {
            try unlockByOwner(first)
            Issue.record("the first process still opens")
        } catch let error as VaultError {
            #expect(error.code == .passcodeNeeded)
            #expect(error.reason.contains("another program"))
        }
        try first.unlock("right")
        #expect(try !first.securityLog().entries.map(\.event.name).contains("enrollmentChanged"))
    }

    @Test func `a process that lets go of its way in leaves another's share where it is`()
        throws
    {
        let first = try armed()
        let second = try armed()
        first.forgetOwner()
        try unlockByOwner(second)
        second.forgetOwner()
        #expect(shares.isEmpty)
    }
    #endif

    // MARK: A wipe that waits

    @Test func `a wipe names the store that it waits for and how to give the share up, and then ends`() throws {
        try keep()
        home.store.state.withLock { $0.isAvailable = false }
        let report = try vault.wipe(passcode: secret("right"), spending: vault.burnAttempt()) { _ throws(VaultError) in
        }
        #expect(!report.isFinished)
        #expect(
            report.summary.contains("\(home.store.kind.title) may still keep a key share")
                && report.summary.contains("delete \(home.path)"))
        home.store.state.withLock { $0.isAvailable = true }
        #expect(errorCode { _ = try home.open() } == .wiped)
        #expect(shares.isEmpty && Vault.isVault(at: home.path) == false)
    }

    @Test(arguments: [KeyStoreKind.ofAnotherSystem, .file])
    func `a note of a store that this system never has does not hold a wipe up`(_ kind: KeyStoreKind) throws {
        let directory = try HomeDirectory(path: home.path)
        let owner = try #require(WipeKeyFile.owner(in: directory, vault: vault.id))
        var note = HardwareNote()
        note.owed = [ShareItem(try .fresh(for: owner), .named(kind, backend: "planted"))]
        try vault.eraseKeysOnly()
        try note.write(in: directory, [])
        #expect(errorCode { _ = try home.open() } == .wiped)
        #expect(!Vault.isVault(at: home.path), "the wipe has ended")
    }
}
