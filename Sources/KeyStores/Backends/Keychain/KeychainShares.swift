#if canImport(Security)
package import DeviceOwner
internal import Foundation
package import SecretMemory
internal import Security
package import VaultFormat

/// Shares in items of an Apple device's keychain, each sealed to a key of the Secure Enclave where there is one. An
/// item that was deleted is gone; a backup of this device that is restored to it may bring items back that are not tied
/// to its passcode.
///
/// The system itself keeps the owner's shares from a program that did not have its owner confirmed.
package struct KeychainShares: ShareStore {
    package let kind = KeyStoreKind.keychain
    private let group: String?

    /// - Parameter group: The access group that app and extensions share; nil for the app's own.
    package init(group: String? = nil) { self.group = group }

    private static let size = 32
    private static let version: UInt8 = 1
    private static let (sealedBackend, plainBackend) = ("enclave", "keychain")

    package func assurance(of rule: ShareRule) -> Assurance {
        switch rule {
        case .nobodyAsked: return .none
        case .owner, .released:
            #if targetEnvironment(simulator)
            return .none
            #else
            return EnclaveSeal.isAvailable ? .hardwareBound : .presence
            #endif
        }
    }

    private func place(_ name: ShareName) -> KeychainPlace {
        KeychainPlace(service: "org.holdfast.revocable", account: name.text, group: group)
    }

    package func make(
        _ share: borrowing SecretBytes, as name: ShareName, under rule: ShareRule,
        note: (ShareItem) throws(ShareFailure) -> Void
    ) throws(ShareFailure) -> ShareItem {
        try shareFailures(in: kind) {
            guard share.count == KeychainShares.size else { throw KeyStoreError(.failure, "a share has 32 bytes") }
            let place = place(name)
            // An item's rule cannot be changed: the old one goes.
            if rule.replaces { try place.delete() }
            guard try !place.isThere() else { throw ShareFailure.nameTaken }
            let isSealed = EnclaveSeal.isAvailable
            let backend = isSealed ? KeychainShares.sealedBackend : KeychainShares.plainBackend
            let item = ShareItem(name, .named(kind, backend: backend))
            try note(item)
            do {
                try add(share, name, rule, isSealed)
                if case .nobodyAsked = rule {
                    guard try open(item, context: nil).isEqual(to: share) else {
                        throw KeyStoreError(.failure, "the keychain does not give back what was stored")
                    }
                }
            } catch let failure as ShareFailure where failure == .nameTaken {
                throw failure
            } catch {
                try? place.delete()
                if case .nobodyAsked = rule { throw error }
                guard DevicePasscode.isSet else { throw ShareFailure.unavailable(.noDevicePasscode) }
                throw error
            }
            return item
        }
    }

    /// Seals and stores it. A rule with biometrics cannot be made where they were erased: then the device's passcode
    /// stands alone, if it is among the steps.
    private func add(
        _ share: borrowing SecretBytes, _ name: ShareName, _ rule: ShareRule, _ isSealed: Bool
    ) throws {
        switch rule {
        case .nobodyAsked(.whileUnlocked): try add(share, name, .whileUnlocked, isSealed)
        case .nobodyAsked(.afterFirstUnlock): try add(share, name, .afterFirstUnlock, isSealed)
        case .owner(let steps), .released(_, let steps):
            guard steps.contains(.devicePasscode) else {
                return try add(share, name, .owner(.currentBiometry), isSealed)
            }
            guard steps.contains(.biometrics) else {
                // Where the device asks for "its owner" a finger may answer: a process takes what its prompt takes.
                return try add(share, name, .owner(rule.replaces ? .ownerPresence : .devicePasscode), isSealed)
            }
            do {
                try add(share, name, .owner(.currentBiometryOrPasscode), isSealed)
            } catch is KeyStoreError {
                // In which words it is refused differs by system and by where: the rule, the keychain, the Enclave.
                try? place(name).delete()
                try add(share, name, .owner(.devicePasscode), isSealed)
            }
        }
    }

    private func add(
        _ share: borrowing SecretBytes, _ name: ShareName, _ protection: KeychainPlace.Protection, _ isSealed: Bool
    ) throws {
        var content: [UInt8]
        if isSealed {
            content = try EnclaveSeal.seal(share, name: name, protection: protection.word, flags: protection.flags)
        } else {
            // The dictionary is the system's way in: its copy lies in ordinary memory until the call is over.
            content = share.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
        }
        content.insert(KeychainShares.version, at: 0)
        guard try place(name).add(Data(content), protection) else { throw ShareFailure.nameTaken }
    }

    package func read(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> SecretBytes {
        try item.check(kind, of: vault)
        return try shareFailures(in: kind) { try asked(item, context: nil) }
    }

    package func read(
        _ item: ShareItem, of vault: VaultID, after release: borrowing OwnerRelease
    ) throws(ShareFailure) -> SecretBytes {
        try item.check(kind, of: vault)
        guard let attempt = release.proof as? SystemAttempt else { throw .notConfirmed }
        return try attempt.withContext { context throws(ShareFailure) in
            try shareFailures(in: kind) { try asked(item, context: context) }
        }
    }

    /// As ``open(_:context:)``, with what the system's answers mean while the device is locked.
    private func asked(_ item: ShareItem, context: AnyObject?) throws -> SecretBytes {
        do {
            return try open(item, context: context)
        } catch let error as KeyStoreError where error.code == .notFound {
            guard try KeychainPlace.isProtectedDataThere(group: group) else { throw ShareFailure.unavailable(.locked) }
            throw ShareFailure.lost(.notThere)
        } catch let error as KeyStoreError where error.code == .lockedOut {
            guard try KeychainPlace.isProtectedDataThere(group: group) else { throw ShareFailure.unavailable(.locked) }
            throw ShareFailure.notConfirmed
        } catch let error as KeyStoreError where error.code == .foreign {
            // An Enclave that was erased, or another one: its key is gone.
            throw ShareFailure.lost(.replaced)
        }
    }

    private func open(_ item: ShareItem, context: AnyObject?) throws -> SecretBytes {
        guard case .named(_, let backend) = item.place else { throw ShareFailure.damaged }
        let content = Array(try place(item.name).read(context: context))
        guard content != KeychainShares.emptied else { throw ShareFailure.lost(.emptied) }
        guard content.first == KeychainShares.version else { throw ShareFailure.lost(.replaced) }
        // What the slot says decides, not what lies in the item.
        switch backend {
        case KeychainShares.sealedBackend:
            guard EnclaveSeal.isAvailable else {
                throw ShareFailure.unavailable(.absent(kind, "the device has no Secure Enclave"))
            }
            return try EnclaveSeal.open(Array(content.dropFirst()), name: item.name, context: context)
        case KeychainShares.plainBackend:
            guard content.count == 1 + KeychainShares.size else { throw ShareFailure.lost(.replaced) }
            return try unsafe SecretBytes(copying: content.span.bytes.extracting(1..<content.count))
        default: throw ShareFailure.unavailable(.otherBackend(kept: backend, found: KeychainShares.sealedBackend))
        }
    }

    private static let emptied: [UInt8] = [0]

    /// Overwrites what can be overwritten without a prompt, and deletes it. The Enclave's key goes with the item, in
    /// which its handle lies.
    package func revoke(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> Revocation {
        guard item.isOf(kind, vault) else { return .anothers }
        return try shareFailures(in: kind) {
            let place = place(item.name)
            let isEmptied = (try? place.replace(with: Data(KeychainShares.emptied))) == true
            var refusal: KeyStoreError?
            do throws(KeyStoreError) { try place.delete() } catch { refusal = error }
            if try place.isThere() {
                guard isEmptied, (try? place.read(context: nil)) == Data(KeychainShares.emptied) else {
                    throw refusal ?? KeyStoreError(.failure, "the keychain still has the share")
                }
                return .emptied
            }
            guard try KeychainPlace.isProtectedDataThere(group: group) else {
                throw ShareFailure.unavailable(.locked)
            }
            return .gone
        }
    }

    package func probe() throws(ShareFailure) {
        try shareFailures(in: kind) {
            guard try KeychainPlace.isProtectedDataThere(group: group) else {
                throw ShareFailure.unavailable(.locked)
            }
        }
    }
}

extension KeychainPlace.Protection {
    /// As the Enclave's key takes it.
    fileprivate var word: CFString {
        switch self {
        case .whileUnlocked: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        case .owner: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
        }
    }

    fileprivate var flags: SecAccessControlCreateFlags? {
        switch self {
        case .whileUnlocked, .afterFirstUnlock: nil
        case .owner(let rule): rule.flags
        }
    }
}
#endif
