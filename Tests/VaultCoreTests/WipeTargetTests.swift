import Cryptography
import Foundation
import SecretMemory
import Synchronization
import TestSupport
import Testing
@testable import VaultCore
@testable import VaultHeader
import VaultFormat
@testable import VaultStorage
import VaultWipe

extension WipeHostileTests {
    final class Target: WipeTarget {
        let identifier: String
        private let state: Mutex<(left: Int, failures: Int, lies: Bool, calls: Int)>

        init(_ identifier: String, left: Int = 3, failures: Int = 0, lies: Bool = false) {
            self.identifier = identifier
            state = Mutex((left, failures, lies, 0))
        }

        var calls: Int { state.withLock { $0.calls } }
        var left: Int { state.withLock { $0.left } }

        struct Refusal: Error {}

        func erase() throws -> Int {
            try state.withLock { state in
                state.calls += 1
                guard state.failures == 0 else {
                    state.failures -= 1
                    throw Refusal()
                }
                defer { if !state.lies { state.left = 0 } }
                return state.left
            }
        }

        func isErased() -> Bool { left == 0 }

        func stopLying() { state.withLock { $0.lies = false } }
    }

    private func open(_ home: TestHome, _ targets: [any WipeTarget]) throws -> Vault {
        var settings = home.settings
        settings.wipeTargets = targets
        return try Vault(at: home.path, settings: settings)
    }

    @Test func whatAnAppRegistersIsErasedAndInTheReceipt() throws {
        let home = try TestHome()
        _ = try home.filled()
        let target = Target("org.example.cache")
        let vault = try open(home, [target])
        #expect(try vault.wipePlan().steps.last?.method == .byApp)
        #expect(try vault.wipe().isFinished)
        #expect(target.left == 0 && target.calls == 1)
        let item = try home.receipt().items.first { $0.target.description == "org.example.cache" }
        #expect(item?.result == .erased && item?.count == 3)
    }

    @Test func aJournalFullOfOtherNamesPushesNothingOut() throws {
        let home = try TestHome()
        let id = try home.filled().id
        let others = try (0..<WipeJournal.maximumItems).map {
            WipeItem(try #require(WipeTargetID("a.b\($0)")), .erased)
        }
        try WipeHostileTests.plant(WipeHostileTests.journal(id, others), "wipe.journal", in: home)
        let target = Target("org.example.cache")
        let vault = try open(home, [target])
        #expect(try home.open().wipePlan().steps.contains { $0.target.description == target.identifier }, "registered")
        try WipeHostileTests.plant(WipeHostileTests.journal(id, others), "wipe.journal", in: home)
        #expect(try vault.wipe().isFinished)
        #expect(target.left == 0)
        #expect(try home.receipt().items.contains { $0.target.description == target.identifier })
    }

    /// A program that looked before a wipe began and registers after it has ended.
    @Test func aDestroyedVaultGetsNoJournalAgain() throws {
        let home = try TestHome()
        let vault = try home.filled()
        let id = try vault.id
        _ = try vault.wipe()
        let code = errorCode {
            try WipeJournalFile.register([Target("org.example.cache")], in: vault.home, vault: id)
        }
        #expect(code == .wiped)
        #expect(try home.names() == ["wipe-receipt"])
    }

    @Test func aWipeByAProgramThatDoesNotKnowATargetWaitsForOneThatDoes() throws {
        let home = try TestHome()
        _ = try home.filled()
        let target = Target("org.example.cache")
        _ = try open(home, [target])
        let other = try home.open()
        #expect(try other.wipePlan().steps.last?.method == .waiting)
        let report = try other.wipe()
        #expect(!report.isFinished)
        #expect(report.summary.contains("org.example.cache (pending)"))
        #expect(report.receipt?.isComplete == false)
        #expect(target.calls == 0)
        // Everything of the vault is still gone.
        #expect(try home.names() == ["header", "receipt.key", "wipe-receipt", "wipe.journal", "wipe.key"])
        #expect(errorCode { _ = try home.open() } == .wiped)
        #expect(target.calls == 0)
        #expect(errorCode { _ = try open(home, [Target("org.example.other"), target]) } == .wiped)
        #expect(target.calls == 1)
        let names = try home.names()
        #expect(names == ["wipe-receipt"], "\(names)")
        let receipt = try home.receipt()
        #expect(receipt.key(matches: report))
        #expect(receipt.items.first { $0.target.description == "files" }?.result == .erased, "forgotten on the way")
    }

    @Test func aTargetThatFailsOrLiesIsTriedAgain() throws {
        for (failures, lies) in [(2, false), (0, true)] {
            let home = try TestHome()
            _ = try home.filled()
            let target = Target("org.example.cache", failures: failures, lies: lies)
            let vault = try open(home, [target])
            let report = try vault.wipe()
            #expect(!report.isFinished)
            #expect(report.summary.contains("org.example.cache (failed)"))
            #expect(errorCode { _ = try open(home, [target]) } == .wiped)
            target.stopLying()
            #expect(errorCode { _ = try open(home, [target]) } == .wiped)
            #expect(try home.names() == ["wipe-receipt"])
            #expect(try home.receipt().isComplete)
            #expect(target.left == 0)
        }
    }

    @Test(arguments: [
        "", "cache", "Org.example", "org..example", "../etc.passwd", "org.exämple", ".org", "org.", "a/b.c",
    ])
    func identifiersAreNamesAndNeverPaths(identifier: String) throws {
        let home = try TestHome()
        _ = try home.filled()
        #expect(errorCode { _ = try open(home, [Target(identifier)]) } == .invalidName)
        #expect(errorCode { _ = try open(home, [Target("org.a"), Target("org.a")]) } == .invalidName)
    }
}
