import Foundation
import Items
import SecretMemory
import SyncFormat
import TestSupport
import Testing
import VaultCore
import VaultFormat
import VaultStorage

@testable import VaultSync

/// Rosters that meet on a road, and members that use them.
@Suite(.seeded) struct FolderRoundRosterTests {
    @Test func `a lock takes the keys of a round that has not ended`() throws {
        let scratch = try ScratchFolder("round")
        let (laptop, phone) = try SyncedDevice.pair(scratch)
        try settle(laptop, phone)
        let home = try laptop.home
        let vault = laptop.items.vault
        try laptop.add("mail", "one")
        vault.lock()
        #expect(throws: SyncError.vault(.locked)) { try home.keys.with { _ throws(SyncError) in } }
        // An unlock does not bring them back.
        try vault.unlock(passcode: secret("right"), spending: vault.burnAttempt())
        let error = #expect(throws: VaultError.self) { try home.stamp() }
        #expect(error?.code == .locked)
        for held in home.rosters.values {
            #expect(throws: SyncError.vault(.locked)) { try held.key.with { _ throws(SyncError) in } }
        }
        #expect(throws: SyncError.vault(.locked)) { try home.ledger.nameKey.with { _ throws(SyncError) in } }
        #expect(try laptop.round().given == 1)
        try settle(laptop, phone)
        #expect(try phone.shown() == ["mail": "password=one"])
    }
}
