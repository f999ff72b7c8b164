#if !canImport(Security)
internal import Cryptography
internal import DeviceOwner
internal import SystemCalls
internal import KeyStores
internal import SecretMemory
internal import VaultCore
internal import VaultFormat

extension Examination {
    static func parts(_ request: Request) -> [Look] {
        [
            Look(.memory, memory),
            Look(.tpm) { chip(request) },
            Look(.keyring) { keyring(SecretServiceShares(), request) },
            Look(.files) { files(request) },
            Look(.fingerprint) { fingerprint(request) },
            Look(.devicePasscode) { passcode(request) },
            Look(.session) { session(request) },
        ]
    }

    @Sendable private static func memory() -> Finding {
        let protection = ProcessHardening.memoryProtection
        let isHidden = ProcessHardening.kernelHidesSecrets
        return Finding(.memory, .good, .memory(protection: protection, isHidden: isHidden))
    }

    private static func chip(_ request: Request) -> Finding {
        guard let location = TPMLocation.standard else { return Finding(.tpm, .missing, .chipAbsent) }
        let device = location.configuration.split(separator: ":", maxSplits: 1).last.map(String.init) ?? ""
        let isDevice = location.configuration.hasPrefix("device:")
        if isDevice, unsafe access(device, F_OK) != 0 { return Finding(.tpm, .missing, .chipAbsent) }
        if isDevice, unsafe access(device, R_OK | W_OK) != 0 {
            return Finding(.tpm, .unready, .chipForbidden(device: device))
        }
        do throws(KeyStoreError) {
            let sealing = TPMSealing(at: location)
            guard request.isDeep else {
                try sealing.probe()
                return Finding(.tpm, .good, .chipAnswers, gives: .hardwareBound)
            }
            try sealing.roundTrip()
            try signAndVerify(TPMSigningKeys(at: location))
            try look(TPMShares(at: location), request)
            return attempts(TPMAttemptTier(at: location))
        } catch {
            let isOwned = error.code == .ownedByAnother
            return Finding(
                .tpm, error, isOwned ? .chipOwned(reason: error.reason) : .chipFailed(reason: error.reason))
        }
    }

    private static func signAndVerify(_ keys: TPMSigningKeys) throws(KeyStoreError) {
        do {
            let authorisation = try SecureRandom.secret(32)
            let key = try keys.makeKey(authorisation: authorisation)
            let message = Array("an examination".utf8)
            // It is verified there before it is given back.
            _ = try unsafe keys.sign(message.span.bytes, with: key, authorisation: authorisation)
            try keys.delete(key)
        } catch { throw KeyStoreError(any: error) }
    }

    private static func attempts(_ tier: TPMAttemptTier) -> Finding {
        do throws(KeyStoreError) {
            try tier.roundTrip()
            return Finding(.tpm, .good, .chipCounts, gives: .hardwareLimited)
        } catch {
            if error.code == .unsupported {
                return Finding(.tpm, .good, .chipSealsOnly(reason: error.reason), gives: .hardwareBound)
            }
            return Finding(.tpm, error, .chipCountingFailed(reason: error.reason))
        }
    }

    private static func files(_ request: Request) -> Finding {
        let store = FileShares(in: request.home + "/shares")
        guard Vault.isVault(at: request.home) else { return Finding(.files, .missing, .noVault) }
        if let synced = SyncedFolder(above: request.home) {
            return Finding(.files, .broken, .folderSynced(folder: synced.path, program: synced.program))
        }
        do throws(KeyStoreError) {
            try look(store, request)
            return Finding(.files, .good, .folderWorks, gives: store.assurance(of: .owner([])))
        } catch { return Finding(.files, .broken, .folderFailed(reason: error.reason)) }
    }

    private static func fingerprint(_ request: Request) -> Finding {
        let capability = OwnerAuthenticator(request.places).capability(of: .biometrics)
        return Finding(.fingerprint, capability, .fingerprint(capability))
    }

    private static func passcode(_ request: Request) -> Finding {
        let capability = OwnerAuthenticator(request.places).capability(of: .devicePasscode)
        return Finding(.devicePasscode, capability, .devicePasscode(capability))
    }

    private static func session(_ request: Request) -> Finding {
        let watch = SessionWatch(request.watch)
        guard watch.missing.isEmpty else {
            return Finding(.session, watch.isSilent ? .slow : .missing, .sessionDeaf(missing: watch.missing))
        }
        return Finding(.session, .good, .sessionHeard)
    }
}
#endif
