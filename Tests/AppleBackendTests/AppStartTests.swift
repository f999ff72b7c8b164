import AppleScripting
import Foundation
import Holdfast
import KeyStores
import Synchronization
import TestSupport
import Testing

@testable import HoldfastUI
@testable import VaultCore
@testable import VaultFolders
@testable import VaultStorage

extension AppleBackends {
    /// An app that is started on the scripted device, and its extension.
    @Suite struct AppStarts {
        let device = ScriptedDevice.current
        let folder: ScratchFolder
        var path: String { folder["home"] }

        init() throws {
            folder = try ScratchFolder("apple-start")
            device.reset()
        }

        private func groups() -> Set<String?> {
            device.withItems { items, _ in Set(items.map { $0["agrp"] as? String }) }
        }

        private func names() -> [String] {
            device.withItems { items, _ in items.map { "\($0["svce"] ?? "") \($0["acct"] ?? "")" }.sorted() }
        }

        private func code(_ body: () async throws -> Void) async -> VaultError.Code? {
            do {
                try await body()
                return nil
            } catch { return (error as? VaultError)?.code }
        }

        @Test func `everything that an app keeps for its vault is in its group, and an extension opens the vault`()
            async throws
        {
            let group = HoldfastApp.Stores.group("TEAM.org.example.notes")
            let app = try await HoldfastApp.open(path, stores: group)
            try app.vault.put(secret("text"), for: "note")
            #expect(groups() == ["TEAM.org.example.notes"])
            let before = names()
            let ours = try await HoldfastApp.open(path, stores: group, opensOnly: true)
            #expect(ours.startProblem == nil && ours.vault.isUnlocked)
            try ours.vault.withValue(for: "note") { #expect($0.byteCount == 4) }
            #expect(names() == before)
            // Another group is another device, as it were: its items are not found, and nothing is made in their place.
            let stranger = try await HoldfastApp.open(path, stores: .group("TEAM.other"), opensOnly: true)
            #expect(stranger.startProblem != nil && !stranger.vault.isUnlocked && names() == before)
        }

        @Test func `an extension makes no vault and changes no level, also where the keychain has a trace`()
            async throws
        {
            #expect(await code { _ = try await HoldfastApp.open(path, opensOnly: true) } == .noVault)
            #expect(names().isEmpty && (try? HomeDirectory(path: path)) == nil)
            _ = try await HoldfastApp.open(path)
            let before = names()
            let ours = try await HoldfastApp.open(path, opensOnly: true)
            device.with { $0.answers = [.success] }
            #expect(await code { try await ours.lock.requireOwner() } == .proofTooWeak)
            #expect(try ours.protection.level == .device && names() == before)
            #expect(await code { _ = try await HoldfastApp.open(path + "-moved", opensOnly: true) } == .vaultMissing)
        }

        @Test func `what a vault keeps of the owner's way in is in the group too`() async throws {
            let store = KeychainShares(group: "TEAM.org.example.notes")
            let vault = try #require(VaultID(bytes: [UInt8](repeating: 1, count: 16)))
            let owner = HardwareOwner(vault: vault, home: [UInt8](repeating: 2, count: 32))
            let rule = ShareRule.released(by: try ReleaseKey(secret(secondShare)), after: [.biometrics])
            _ = try store.make(secret([UInt8](1...32)), as: .released(for: owner), under: rule) {
                _ throws(ShareFailure) in
            }
            #expect(groups() == ["TEAM.org.example.notes"])
        }

        @Test func `a new vault's files can be read from the first unlock on, also while the device is locked`()
            async throws
        {
            _ = try await HoldfastApp.open(path)
            let home = try HomeDirectory(path: path)
            #expect(protectionClass(of: home.descriptor) == FileProtection.classC)
        }

        @Test(arguments: [true, false])
        func `the folder is in the system's backups, and left out where the app wants that`(_ isIn: Bool) async throws {
            var options = AppModel.Options()
            #expect(options.isInSystemBackups)
            options.isInSystemBackups = isIn
            let seen = Mutex<[(path: String, isExcluded: Bool?, isThere: Bool)]>([])
            // At the first start, and at each one after it: a folder that was restored is not marked.
            for starts in 1...2 {
                await SystemBackups.$write.withValue({ url, values in
                    let isThere = (try? HomeDirectory(path: url.path)) != nil
                    seen.withLock { $0.append((url.path, values.isExcludedFromBackup, isThere)) }
                }) { await AppModel(at: path, interface: "test", options).opened() }
                #expect(seen.withLock { $0.count } == starts)
            }
            #expect(seen.withLock { $0.allSatisfy { $0.path == path && $0.isExcluded == !isIn && $0.isThere } })
        }
    }
}
