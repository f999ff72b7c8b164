#if canImport(Security)
internal import DeviceOwner
internal import KeyStores
internal import SecretMemory
internal import VaultFormat

extension Examination {
    static func parts(_ request: Request) -> [Look] {
        [
            Look(.memory) {
                Finding(.memory, .good, .memory(protection: ProcessHardening.memoryProtection, isHidden: false))
            },
            Look(.keyring) { keychain(request) },
            Look(.fingerprint) {
                let capability = OwnerAuthenticator.standard.capability(of: .biometrics)
                return Finding(.fingerprint, capability, .fingerprint(capability))
            },
            Look(.devicePasscode) {
                let capability = OwnerAuthenticator.standard.capability(of: .devicePasscode)
                return Finding(.devicePasscode, capability, .devicePasscode(capability))
            },
        ]
    }

    private static func keychain(_ request: Request) -> Finding {
        let store = KeychainShares()
        do throws(KeyStoreError) {
            try look(store, request)
            return Finding(
                .keyring, .good, .keyringOpen(isTried: request.isDeep), gives: store.assurance(of: .owner([])))
        } catch {
            let isLocked = error.code == .lockedOut
            return Finding(
                .keyring, error, isLocked ? .keyringLocked(reason: error.reason) : .keyringFailed(reason: error.reason))
        }
    }
}
#endif
