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
            Look(.keyring) { keyring(KeychainShares(), request) },
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
}
#endif
