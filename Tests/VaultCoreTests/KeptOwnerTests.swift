import Foundation
import Synchronization
import TestSupport
import Testing
import VaultFormat
import VaultStorage

@testable import DeviceOwner
@testable import KeyStores
@testable import VaultCore

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
}
