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
    /// Shares and floors in the keychain of a scripted device.
    @Suite struct KeychainShareTests {
        let device = ScriptedDevice.current
        let store = KeychainShares()
        let vault: VaultID
        let share = [UInt8](1...32)

        init() throws {
            device.reset()
            vault = try #require(VaultID(bytes: [UInt8](repeating: 1, count: 16)))
        }

        private func make(_ rule: ShareRule = .nobodyAsked(.whileUnlocked)) throws -> ShareItem {
            try store.make(secret(share), as: .fresh(for: HardwareOwner(vault: vault, home: share)), under: rule) {
                _ throws(ShareFailure) in
            }
        }

        private func read(_ item: ShareItem) throws -> [UInt8] { try store.read(item, of: vault).revealed() }

        /// Confirms the owner on the device as it is, and reads.
        private func confirmAndRead(_ item: ShareItem, _ step: OwnerStep, between: () -> Void = {}) throws -> [UInt8] {
            device.with { $0.answers = [.success] }
            switch OwnerAuthenticator.standard.confirm(step, keeper: try armedKeeper(), SilentOwner()) {
            case .released(let release):
                between()
                return try store.read(item, of: vault, after: release).revealed()
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

        private func items() -> Int { device.withItems { items, _ in items.count } }

        private func protection() -> String? { device.withItems { items, _ in items.first?["pdmn"] as? String } }

        @Test(arguments: [true, false])
        func `a share that nobody is asked for is read, revoked and gone`(_ hasEnclave: Bool) throws {
            device.with { $0.hasSecureEnclave = hasEnclave }
            let item = try make()
            #expect(item.place == .named(.keychain, backend: hasEnclave ? "enclave" : "keychain"))
            #expect(try read(item) == share)
            #expect(protection() == "aku")
            let lies = device.withItems { items, _ in items[0]["v_Data"] as? Data ?? Data() }
            #expect(lies.range(of: Data(share)) == nil || !hasEnclave, "sealed to the Enclave")
            #expect(
                failure {
                    _ = try store.make(secret(share), as: item.name, under: .nobodyAsked(.whileUnlocked)) { _ in }
                } == .nameTaken)
            #expect(try read(item) == share)
            #expect(try store.revoke(item, of: vault) == .gone)
            #expect(failure { _ = try read(item) } == .lost(.notThere))
            #expect(try store.revoke(item, of: vault) == .gone)
            #expect(items() == 0)
            #expect(device.with(\.prompts).isEmpty)
            #expect(device.with(\.liveContexts) == 0)
        }

        @Test func `an item that comes back with its Enclave key opens, and without it does not`() throws {
            let item = try make()
            let copy = device.withItems { items, _ in items }
            #expect(try store.revoke(item, of: vault) == .gone)
            device.withItems { items, _ in items = copy }
            #expect(try read(item) == share, "a backup that is restored to the same device")
            device.reset()
            device.withItems { items, _ in items = copy }
            #expect(failure { _ = try read(item) } == .lost(.replaced), "another Enclave")
        }

        @Test func `the value of one item is no value of another`() throws {
            let (first, second) = (try make(), try make())
            device.withItems { items, _ in items[1]["v_Data"] = items[0]["v_Data"] }
            #expect(try read(first) == share)
            #expect(failure { _ = try read(second) } == .lost(.replaced))
            device.withItems { items, _ in items[0]["v_Data"] = Data([1, 2, 3]) }
            #expect(failure { _ = try read(first) } == .lost(.replaced))
            device.withItems { items, _ in items[0]["v_Data"] = Data([0]) }
            #expect(failure { _ = try read(first) } == .lost(.emptied))
        }

        @Test func `a locked device has lost nothing, whichever way it says so`() throws {
            let item = try make()
            let background = try make(.nobodyAsked(.afterFirstUnlock))
            device.with { $0.protectedDataAvailable = false }
            #expect(failure { _ = try read(item) } == .unavailable(.locked))
            #expect(try read(background) == share, "from the first unlock on")
            #expect(failure { try store.probe() } == .unavailable(.locked))
            #expect(failure { _ = try make() } == .unavailable(.locked))
            // A launch before the first unlock is told "not found".
            device.with { $0.failures["SecItemCopyMatching"] = [errSecItemNotFound] }
            #expect(failure { _ = try read(background) } == .unavailable(.locked))
            let gone = ShareItem(
                try .fresh(for: HardwareOwner(vault: vault, home: share)), .named(.keychain, backend: "enclave"))
            #expect(failure { _ = try store.read(gone, of: vault) } == .unavailable(.locked))
            #expect(failure { _ = try store.revoke(gone, of: vault) } == .unavailable(.locked))
            device.with { $0.protectedDataAvailable = true }
            #expect(failure { _ = try store.read(gone, of: vault) } == .lost(.notThere))
            #expect(try read(item) == share)
            #expect(items() == 2, "what was put in to find out is out again")
        }

        @Test func `the owner's share is read in the context that was confirmed, and in no other`() throws {
            let item = try make(.owner([.biometrics, .devicePasscode]))
            let control = try #require(device.withItems { items, _ in items.first?["accc"] as? SecAccessControl })
            #expect(control.flags == [.biometryCurrentSet, .or, .devicePasscode])
            #expect(control.protection as String == "akpu")
            #expect(failure { _ = try read(item) } == .notConfirmed)
            #expect(device.with(\.prompts).isEmpty, "and nobody is asked by it")
            #expect(try confirmAndRead(item, .biometrics) == share)
            #expect(try confirmAndRead(item, .devicePasscode) == share)
            #expect(device.with(\.prompts).count == 2)
            // The device's passcode outlives another enrollment; a new face does not get in by itself.
            device.with { $0.enrollment = Data("other".utf8) }
            #expect(try confirmAndRead(item, .devicePasscode) == share)
            #expect(failure { _ = try confirmAndRead(item, .biometrics) } == .notConfirmed)
            let release = OwnerRelease(.biometrics, try secret(secondShare))
            #expect(
                failure { _ = try store.read(item, of: vault, after: release) } == .notConfirmed, "not the system's")
            let asked = device.with(\.prompts).count
            #expect(
                failure {
                    _ = try store.make(secret(share), as: item.name, under: .nobodyAsked(.whileUnlocked)) { _ in }
                } == .nameTaken, "what may not be read is there")
            #expect(try store.revoke(item, of: vault) == .gone)
            #expect(device.with(\.prompts).count == asked, "without asking")
            #expect(failure { _ = try confirmAndRead(item, .devicePasscode) } == .lost(.notThere))
        }

        @Test func `a share that stays and may not be changed is not called gone, and nobody is asked`() throws {
            let item = try make(.owner([.biometrics, .devicePasscode]))
            device.with { $0.failures["SecItemDelete"] = [errSecNotAvailable] }
            #expect(failure { _ = try store.revoke(item, of: vault) } != nil)
            #expect(try confirmAndRead(item, .devicePasscode) == share)
            #expect(device.with(\.prompts).count == 1)
        }

        /// Set up later, and changed later.
        @Test func `what was made for the device's passcode alone opens by it where there is a face now`() throws {
            device.with { $0.biometryEnrolled = false }
            let item = try make(.owner([.devicePasscode]))
            device.with { $0.biometryEnrolled = true }
            #expect(try confirmAndRead(item, .devicePasscode) == share)
        }

        /// What a prompt that was confirmed is worth for a change, where there is no share of the owner's yet.
        @Test func `a release that gets no share back is none`() throws {
            func check(_ release: borrowing OwnerRelease, _ steps: Set<OwnerStep>) -> ShareFailure? {
                do throws(ShareFailure) {
                    try store.check(release, after: steps, of: HardwareOwner(vault: vault, home: share)) {
                        _ throws(ShareFailure) in
                    }
                    return nil
                } catch { return error }
            }
            let made = OwnerRelease(.biometrics, try secret(secondShare))
            #expect(check(made, [.biometrics]) == .notConfirmed, "a program that leaves out the prompt")
            #expect(items() == 0)
            device.with { $0.answers = [.success] }
            switch OwnerAuthenticator.standard.confirm(.biometrics, keeper: try armedKeeper(), SilentOwner()) {
            case .released(let release):
                #expect(check(release, [.biometrics, .devicePasscode]) == nil)
                #expect(check(release, [.devicePasscode]) == .notConfirmed, "confirmed in another way")
            default: Issue.record("the owner was not confirmed")
            }
            #expect(items() == 0)
            #expect(device.with(\.prompts).count == 1)
        }

        @Test func `where biometrics were erased the device's passcode stands alone`() throws {
            device.with { $0.failures["SecAccessControlCreateWithFlags"] = [errSecParam] }
            let item = try make(.owner([.biometrics, .devicePasscode]))
            let control = try #require(device.withItems { items, _ in items.first?["accc"] as? SecAccessControl })
            #expect(control.flags == .devicePasscode)
            #expect(try confirmAndRead(item, .devicePasscode) == share)
            device.with { $0.failures["SecAccessControlCreateWithFlags"] = [errSecParam] }
            #expect(failure { _ = try make(.owner([.biometrics])) } != nil, "biometrics alone have nothing to stand on")
        }

        @Test(arguments: [errSecAuthFailed, errSecParam, errSecNotAvailable, errSecInteractionNotAllowed])
        func `however a rule with biometrics is refused, the device's passcode stands alone`(_ status: OSStatus) throws
        {
            device.with { $0.failures["SecItemAdd"] = [status] }
            let item = try make(.owner([.biometrics, .devicePasscode]))
            let control = try #require(device.withItems { items, _ in items.first?["accc"] as? SecAccessControl })
            #expect(control.flags == .devicePasscode)
            #expect(try confirmAndRead(item, .devicePasscode) == share)
        }

        @Test func `a device without a passcode keeps no share for its owner, and says why`() throws {
            device.with { $0.passcodeSet = false }
            for steps in [Set<OwnerStep>([.devicePasscode]), [.biometrics, .devicePasscode]] {
                #expect(failure { _ = try make(.owner(steps)) } == .unavailable(.noDevicePasscode))
            }
            #expect(items() == 0)
            #expect(try read(make()) == share, "but one for nobody")
        }

        @Test func `an item of another vault or store is not asked for`() throws {
            let item = try make()
            let calls = device.with(\.calls).count
            let other = try #require(VaultID(bytes: [UInt8](repeating: 2, count: 16)))
            #expect(failure { _ = try store.read(item, of: other) } == .damaged)
            #expect(try store.revoke(item, of: other) == .anothers)
            let file = ShareItem(item.name, .named(.file, backend: "file"))
            #expect(failure { _ = try store.read(file, of: vault) } == .damaged)
            #expect(device.with(\.calls).dropFirst(calls).allSatisfy { $0 == "SecRandomCopyBytes" })
            #expect(try read(item) == share)
        }

        /// Each call of the system fails in turn, in each way it can.
        @Test(arguments: ["make", "read", "revoke"])
        func `whichever call fails, nothing is called lost, and what was noted can be revoked`(_ operation: String)
            throws
        {
            let functions = [
                "SecItemAdd", "SecItemCopyMatching", "SecItemUpdate", "SecItemDelete", "makeAgreementKey",
                "SecAccessControlCreateWithFlags",
            ]
            let statuses = [
                errSecInteractionNotAllowed, errSecAuthFailed, errSecNotAvailable, errSecMissingEntitlement,
                errSecParam,
                errSecAllocate,
            ]
            for function in functions {
                for status in statuses {
                    for place in 0..<4 {
                        device.reset()
                        var noted: ShareItem?
                        if operation != "make" { noted = try make() }
                        device.with {
                            $0.skips[function] = place
                            $0.failures[function] = [status]
                        }
                        let came = failure {
                            switch operation {
                            case "make":
                                _ = try store.make(
                                    secret(share), as: .fresh(for: HardwareOwner(vault: vault, home: share)),
                                    under: .nobodyAsked(.whileUnlocked)
                                ) { item throws(ShareFailure) in noted = item }
                            case "read": _ = try store.read(#require(noted), of: vault)
                            default: _ = try store.revoke(#require(noted), of: vault)
                            }
                        }
                        device.with {
                            $0.failures = [:]
                            $0.skips = [:]
                        }
                        let what = "\(operation), \(function) \(place): \(status)"
                        if case .lost = came { Issue.record("\(what): \(String(describing: came))") }
                        if let noted {
                            #expect(try store.revoke(noted, of: vault) == .gone, "\(what)")
                            #expect(failure { _ = try read(noted) } == .lost(.notThere), "\(what)")
                        }
                    }
                }
            }
        }

        @Test func `a floor is there from the first unlock on, and never absent because it cannot be read`() throws {
            let floors = KeychainFloors()
            let floor = LevelFloor(vault, .owner)
            #expect(try floors.floor(of: .standard) == .none)
            try floors.set(floor, of: .standard)
            #expect(protection() == "cku")
            try floors.set(LevelFloor(vault, .secret), of: .standard)
            #expect(items() == 1)
            device.with { $0.protectedDataAvailable = false }
            #expect(try floors.floor(of: .standard) == .floor(LevelFloor(vault, .secret)))
            device.with { $0.failures["SecItemCopyMatching"] = [errSecItemNotFound] }
            #expect(failure { _ = try floors.floor(of: .standard) } == .unavailable(.locked))
            device.with { $0.protectedDataAvailable = true }
            device.withItems { items, _ in items[0]["v_Data"] = Data([7]) }
            #expect(try floors.floor(of: .standard) == .unreadable)
            try floors.removeFloor(of: .standard)
            #expect(try floors.floor(of: .standard) == .none)
            #expect(items() == 0)
        }

        @Test func `an access group is asked for in every query`() throws {
            let shared = KeychainShares(group: "TEAM.group")
            let item = try shared.make(
                secret(share), as: .fresh(for: HardwareOwner(vault: vault, home: share)),
                under: .nobodyAsked(.afterFirstUnlock)
            ) {
                _ in
            }
            #expect(device.withItems { items, _ in items.allSatisfy { $0["agrp"] as? String == "TEAM.group" } })
            #expect(try shared.read(item, of: vault).revealed() == share)
            #expect(KeychainShares(group: "OTHER").assurance(of: .owner([.biometrics])) == .hardwareBound)
            #expect(failure { _ = try KeychainShares(group: "OTHER").read(item, of: vault) } == .lost(.notThere))
        }
    }
}
