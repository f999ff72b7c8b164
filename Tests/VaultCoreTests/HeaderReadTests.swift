#if DEBUG
import KeyStores
import Synchronization
import TestSupport
import Testing
import VaultCore
import VaultStorage
import VaultHeader

/// How often the header's file is opened. Twice for its lock: the name must lead to the file that was locked.
@Suite struct HeaderReadTests {
    private func opened(_ vault: Vault) -> Int { vault.home.opened.withLock { $0["header"] ?? 0 } }

    @Test func `a vault is found with its status by one read, behind the look for a wipe`() throws {
        let home = try TestHome()
        _ = try home.create()
        let (vault, found) = try Vault.found(at: home.path, settings: home.settings)
        let status = try found.get()
        #expect(opened(vault) == 2)
        #expect(status.remainingAttempts == 5 && !status.leavesHardware)
        #expect(try vault.status() == status)
    }

    @Test func `an unlock opens the header for its lock, and for the log`() throws {
        let home = try TestHome()
        _ = try home.create()
        var settings = home.settings
        settings.shareStores = { .files(in: $0 + "/shares") }
        settings.armsOwner = true
        let vault = try Vault(at: home.path, settings: settings)
        let before = opened(vault)
        try vault.unlock("right")
        #expect(opened(vault) - before == 3)
    }
}
#endif
