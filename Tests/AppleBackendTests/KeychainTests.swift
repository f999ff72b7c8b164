import AppleScripting
import Foundation
import LocalAuthentication
import SecretMemory
import Security
import TestSupport
import Testing
import VaultFormat

@testable import DeviceOwner
@testable import KeyStores

extension AppleBackends {
    /// Shares that end with their process, in the keychain of a scripted device.
    @Suite struct ReleasedShares {
        let device = ScriptedDevice.current
        let store = KeychainShares()
        let owner: HardwareOwner
        let share = [UInt8](1...32)

        init() throws {
            device.reset()
            let vault = try #require(VaultID(bytes: [UInt8](repeating: 1, count: 16)))
            owner = HardwareOwner(vault: vault, home: share)
        }

        private func make(_ bytes: [UInt8]? = nil, after steps: Set<OwnerStep> = [.biometrics]) throws -> ShareItem {
            let rule = ShareRule.released(by: try ReleaseKey(secret(secondShare)), after: steps)
            return try store.make(secret(bytes ?? share), as: .released(for: owner), under: rule) {
                _ throws(ShareFailure) in
            }
        }

        /// Confirms the owner on the device as it is, and reads.
        private func take(_ item: ShareItem, _ step: OwnerStep = .biometrics) throws -> [UInt8] {
            device.with { $0.answers = [.success] }
            switch OwnerAuthenticator.standard.confirm(step, keeper: try armedKeeper(), SilentOwner()) {
            case .released(let release): return try store.read(item, of: owner.vault, after: release).revealed()
            default:
                Issue.record("the owner was not confirmed")
                return []
            }
        }

        private func failure(_ body: () throws -> Void) -> ShareFailure? {
            do {
                try body()
                return nil
            } catch { return error as? ShareFailure }
        }

        private func flags() throws -> SecAccessControlCreateFlags {
            try #require(device.withItems { items, _ in items.first?["accc"] as? SecAccessControl }).flags
        }

        @Test func `the system gives it to the confirmed context without another prompt, and to nothing else`() throws {
            let item = try make()
            #expect(try take(item) == share)
            #expect(device.with(\.prompts).count == 1 && device.with(\.liveContexts) == 0)
            let release = OwnerRelease(.biometrics, try secret(secondShare))
            #expect(failure { _ = try store.read(item, of: owner.vault, after: release) } == .notConfirmed)
            #expect(failure { _ = try store.read(item, of: owner.vault) } == .notConfirmed)
            #expect(failure { _ = try take(item, .devicePasscode) } == .notConfirmed, "made for a finger")
        }

        @Test func `the rule is that of the policy's steps`() throws {
            let rules: [(Set<OwnerStep>, SecAccessControlCreateFlags)] = [
                ([.biometrics], .biometryCurrentSet), ([.devicePasscode], .userPresence),
                ([.biometrics, .devicePasscode], [.biometryCurrentSet, .or, .devicePasscode]),
            ]
            for (steps, expected) in rules {
                let item = try make(after: steps)
                #expect(try flags() == expected)
                for step in steps { #expect(try take(item, step) == share) }
            }
        }

        @Test func `it replaces the one that a killed process left, and its rule`() throws {
            let item = try make(after: [.devicePasscode])
            #expect(try make(secondShare) == item)
            #expect(try take(item) == secondShare && flags() == .biometryCurrentSet)
            #expect(device.withItems { items, _ in items.count } == 1)
            ShareStores([store], floors: []).revokeReleased(of: owner)
            #expect(device.withItems { items, _ in items.isEmpty })
        }

        static let statuses: [(OSStatus, KeyStoreError.Code)] = [
            (errSecItemNotFound, .notFound), (errSecUserCanceled, .cancelled), (errSecAuthFailed, .busy),
            (errSecInteractionNotAllowed, .lockedOut), (errSecInteractionRequired, .lockedOut),
            (errSecNotAvailable, .unavailable), (errSecMissingEntitlement, .unavailable), (errSecDecode, .damaged),
            (errSecAllocate, .outOfMemory), (errSecParam, .failure), (-4, .failure),
        ]

        @Test(arguments: statuses.indices) func `every status has its meaning`(_ index: Int) {
            let (status, code) = ReleasedShares.statuses[index]
            #expect(thrown(KeyStoreError.self) { try Keychain.check(status) }?.code == code)
        }

        @Test func `the doctor asks nobody and leaves nothing`() throws {
            try store.roundTrip()
            #expect(device.with(\.prompts).isEmpty && device.withItems { items, _ in items.isEmpty })
            device.with { $0.failures["SecItemAdd"] = [errSecMissingEntitlement] }
            #expect(failure { try store.roundTrip() } != nil)
        }

        @Test func `it is bound to hardware only where there is an Enclave, and never rests in files`() {
            #expect(store.assurance(of: .owner([])) == .hardwareBound)
            device.with { $0.hasSecureEnclave = false }
            #expect(store.assurance(of: .owner([])) == .presence)
            let stores = ShareStores.system().reading(filesIn: "/nonexistent")
            #expect((try? stores.bestForProcess())?.kind == .keychain)
            device.with { $0.failures["SecItemCopyMatching"] = [errSecMissingEntitlement] }
            #expect((try? stores.bestForProcess()) == nil)
        }
    }
}
