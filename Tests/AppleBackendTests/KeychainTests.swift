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
    @Suite struct Keychains {
        let device = ScriptedDevice.current
        let folder: ScratchFolder
        let share = [UInt8](0..<32)
        init() throws {
            folder = try ScratchFolder("apple")
            device.reset()
        }

        var store: KeychainStore { KeychainStore() }

        private func put(_ name: String = "one", after steps: Set<OwnerStep> = [.biometrics]) throws -> KeyStoreItem {
            try store.put(secret(share), as: name, releasedBy: secret(secondShare), after: steps)
        }

        /// Confirms the owner on the device as it is, and redeems.
        private func take(
            _ item: KeyStoreItem, _ step: OwnerStep = .biometrics, between: () -> Void = {}
        ) throws -> [UInt8] {
            device.with { $0.answers = [.success] }
            switch OwnerAuthenticator.standard.confirm(step, keeper: try armedKeeper(), SilentOwner()) {
            case .released(let release):
                between()
                return try store.redeem(item, release).revealed()
            default:
                Issue.record("the owner was not confirmed")
                return []
            }
        }

        private func failure(_ body: () throws -> Void) -> KeyStoreError.Code? {
            do {
                try body()
                return nil
            } catch { return (error as? KeyStoreError)?.code }
        }

        @Test func theSystemReleasesTheShareToTheConfirmedContextWithoutAnotherPrompt() throws {
            let item = try put()
            #expect(try take(item) == share)
            #expect(device.with(\.prompts).count == 1)
            #expect(device.with(\.liveContexts) == 0)
        }

        @Test func withoutTheSystemsProofThereIsNoShare() throws {
            let item = try put()
            let release = OwnerRelease(.biometrics, try secret(secondShare))
            #expect(failure { _ = try store.redeem(item, release) } == .unavailable)
            #expect(!device.with(\.calls).contains("SecItemCopyMatching"), "not even asked")
        }

        /// What lies in the keychain, as the system sees it.
        private func rule() throws -> (flags: SecAccessControlCreateFlags, protection: String) {
            let item = try #require(device.withItems { items, _ in items.first })
            let control = try #require(item["accc"] as? SecAccessControl)
            #expect(item["pdmn"] == nil && item["sync"] == nil)
            return (control.flags, control.protection as String)
        }

        @Test func theRuleIsThatOfThePolicysSteps() throws {
            let rules: [(Set<OwnerStep>, SecAccessControlCreateFlags)] = [
                ([.biometrics], .biometryCurrentSet), ([.devicePasscode], .userPresence),
                ([.biometrics, .devicePasscode], [.biometryCurrentSet, .or, .devicePasscode]),
            ]
            for (steps, flags) in rules {
                device.reset()
                let item = try put(after: steps)
                let found = try rule()
                #expect(
                    found.flags == flags && found.protection == "akpu", "this device only, and only with a passcode")
                for step in steps { #expect(try take(item, step) == share) }
            }
        }

        @Test(arguments: [
            (Keychain.Guard.anyBiometry, SecAccessControlCreateFlags.biometryAny),
            (.currentBiometry, .biometryCurrentSet), (.devicePasscode, .devicePasscode),
            (.ownerPresence, .userPresence),
        ]) func everyRuleIsOneOfTheSystems(_ rule: Keychain.Guard, _ flags: SecAccessControlCreateFlags) throws {
            #expect(try Keychain(group: nil).add(secret(share), as: "x", guardedBy: rule))
            #expect(try self.rule().flags == flags)
        }

        @Test func aShareForAFingerIsNotReleasedForAPasscode() throws {
            let item = try put(after: [.biometrics])
            #expect(failure { _ = try take(item, .devicePasscode) } == .lockedOut)
            #expect(device.with(\.prompts).count == 1, "and nobody is asked a second time")
        }

        @Test func anotherFingerTakesTheShareAway() throws {
            let item = try put(after: [.biometrics])
            #expect(
                failure { _ = try take(item) { device.with { $0.enrollment = Data("other".utf8) } } } == .notFound)
            // Beside the passcode it still is: that one stands for the owner.
            let both = try put("two", after: [.biometrics, .devicePasscode])
            #expect(try take(both, .devicePasscode) { device.with { $0.enrollment = Data("third".utf8) } } == share)
        }

        static let statuses: [(OSStatus, KeyStoreError.Code)] = [
            (errSecItemNotFound, .notFound), (errSecUserCanceled, .cancelled), (errSecAuthFailed, .busy),
            (errSecInteractionNotAllowed, .lockedOut), (errSecInteractionRequired, .lockedOut),
            (errSecNotAvailable, .unavailable), (errSecMissingEntitlement, .unavailable), (errSecDecode, .damaged),
            (errSecAllocate, .outOfMemory), (errSecParam, .failure), (-4, .failure),
        ]

        @Test(arguments: statuses.indices)
        func everyStatusHasItsMeaningAndNoneIsAWrongSecret(_ index: Int) throws {
            let (status, code) = Keychains.statuses[index]
            let item = try put()
            #expect(
                failure { _ = try take(item) { device.with { $0.failures["SecItemCopyMatching"] = [status] } } } == code
            )
            device.with { $0.failures["SecItemAdd"] = [status] }
            #expect(failure { _ = try put("other") } == code)
            if status != errSecItemNotFound {
                device.with { $0.failures["SecItemDelete"] = [status] }
                #expect(failure { try store.delete(item) } == code)
                device.with { $0.failures["SecItemCopyMatching"] = [status] }
                #expect(failure { try store.probe() } == code)
            }
            #expect(![.wrongSecret, .destroyed].contains(code))
            #expect(try take(item) == share, "nothing was lost by it")
        }

        @Test func aShareReplacesTheOneOfItsNameAndItsRule() throws {
            let item = try put(after: [.devicePasscode])
            let next = try store.put(
                secret(secondShare), as: "one", releasedBy: secret(secondShare), after: [.biometrics])
            #expect(item == next)
            #expect(try take(next) == secondShare)
            #expect(try rule().flags == .biometryCurrentSet)
            #expect(device.withItems { items, _ in items.count } == 1)
            device.with { $0.failures["SecItemAdd"] = [errSecDuplicateItem, errSecDuplicateItem] }
            #expect(failure { _ = try put() } == .busy, "somebody else writes: no endless race")
        }

        @Test func aLockedDeviceGivesNothingAndLosesNothing() throws {
            let item = try put()
            let code = failure { _ = try take(item) { device.with { $0.protectedDataAvailable = false } } }
            #expect(code == .lockedOut)
            device.with { $0.protectedDataAvailable = true }
            #expect(try take(item) == share)
        }

        @Test func aDeviceWithoutAPasscodeKeepsNothing() throws {
            device.with { $0.passcodeSet = false }
            #expect(failure { _ = try put() } == .busy)
            device.with { $0.failures["SecAccessControlCreateWithFlags"] = [errSecParam] }
            #expect(failure { _ = try put() } == .unavailable)
        }

        @Test func deletedIsDeletedAndTwiceIsFine() throws {
            let item = try put()
            try store.delete(item)
            try store.delete(item)
            #expect(failure { _ = try take(item) } == .notFound)
        }

        @Test func whatIsNoItemIsRefusedBeforeTheKeychainIsAsked() throws {
            let texts = ["", ".x", "a/b", String(repeating: "n", count: 65), "ü"]
            for text in texts {
                let item = KeyStoreItem(.keychain, data: Array(text.utf8))
                #expect(failure { try store.delete(item) } != nil, "\(text)")
            }
            #expect(failure { try store.delete(KeyStoreItem(.keychain, data: [0xff, 0xfe])) } == .damaged)
            #expect(failure { try store.delete(KeyStoreItem(.file, data: Array("one".utf8))) } == .damaged)
            // Tests beside this one draw random bytes of the same device.
            #expect(device.with(\.calls).allSatisfy { $0 == "SecRandomCopyBytes" })
        }

        @Test func aShareOfAnotherSizeIsNotTaken() throws {
            #expect(failure { _ = try store.put(secret([1]), as: "a", releasedBy: secret(secondShare)) } == .failure)
            #expect(failure { _ = try put("a/b") } == .failure)
            let item = try put()
            device.withItems { items, _ in items[0]["v_Data"] = Data([1, 2, 3]) }
            #expect(failure { _ = try take(item) } == .damaged)
        }

        @Test func theDoctorAsksNobodyAndLeavesNothing() throws {
            try store.roundTrip()
            try store.probe()
            #expect(device.with(\.prompts).isEmpty)
            #expect(device.withItems { items, _ in items.isEmpty })
            device.with { $0.failures["SecItemAdd"] = [errSecMissingEntitlement] }
            #expect(failure { try store.roundTrip() } == .unavailable)
        }

        @Test func itIsBoundToHardwareOnlyWhereThereIsAnEnclave() {
            #expect(store.assurance == .hardwareBound)
            device.with { $0.hasSecureEnclave = false }
            #expect(store.assurance == .presence)
            #expect(KeyStores(folder: folder.path).best?.kind == .keychain)
            device.with { $0.failures["SecItemCopyMatching"] = [errSecMissingEntitlement] }
            #expect(KeyStores(folder: folder.path).best == nil, "no weaker store in its place")
        }
    }
}
