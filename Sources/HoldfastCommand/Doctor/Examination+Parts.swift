internal import DeviceOwner
internal import Holdfast
internal import HoldfastAgent
internal import KeyStores

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

extension Examination {
    /// What is looked at.
    struct Request: Sendable {
        /// Whether what can be made to work is made to work, and taken back.
        var isDeep = false
        /// Where files of shares would lie.
        var home: String
        var places = OwnerAuthenticator.Places()
        var watch = SessionWatch.Places()
    }

    static func parts(_ request: Request) -> [Part] {
        [
            Part(name: "memory", fix: "", look: memory),
            Part(name: "tpm", fix: "look whether another program holds the TPM (tpm2-abrmd)") { tpm(request) },
            Part(name: "keyring", fix: "start the session again, or its keyring program") { keyring(request) },
            Part(name: "files", fix: "look whether the disk answers") { files(request) },
            Part(name: "fingerprint", fix: "systemctl restart fprintd") { fingerprint(request) },
            Part(name: "devicePasscode", fix: "look at the rules in /etc/pam.d/holdfast") { passcode(request) },
            Part(name: "session", fix: "look whether the system bus answers") { session(request) },
        ]
    }

    @Sendable private static func memory() -> Finding {
        let protection = ProcessHardening.memoryProtection
        let isHidden = protection.hasPrefix("memfd_secret")
        return Finding(
            part: "memory", state: .good, words: "secrets lie in \(protection)",
            fix: isHidden ? nil : "a kernel with CONFIG_SECRETMEM hides them from itself, too")
    }

    private static func tpm(_ request: Request) -> Finding {
        guard let location = TPMLocation.standard else {
            return Finding(
                part: "tpm", state: .missing, assurance: nil,
                words: "this machine shows no TPM 2.0: the passcode's own strength is all that protects a stolen copy",
                fix: "switch the TPM on in the firmware's settings, if there is one; or name one in $HOLDFAST_TPM")
        }
        let device = location.configuration.split(separator: ":", maxSplits: 1).last.map(String.init) ?? ""
        if location.configuration.hasPrefix("device:"), unsafe access(device, R_OK | W_OK) != 0 {
            return Finding(
                part: "tpm", state: .unready, words: "there is a TPM, and this user may not use it",
                fix: "add the user to the group of \(device) (usermod -aG tss USER), and log in again")
        }
        do throws(KeyStoreError) {
            let store = TPMKeyStore(at: location)
            guard request.isDeep else {
                try store.probe()
                return Finding(
                    part: "tpm", state: .good, assurance: .hardwareBound,
                    words: "the TPM answers (whether it counts attempts is tried with --deep)")
            }
            try store.roundTrip()
            try signAndVerify(TPMSigningKeys(at: location))
            return attempts(TPMAttemptTier(at: location))
        } catch { return Finding(part: "tpm", error, fix: "look at the firmware's settings of the TPM") }
    }

    private static func signAndVerify(_ keys: TPMSigningKeys) throws(KeyStoreError) {
        do {
            let authorisation = try SecureRandom.secret(32)
            let key = try keys.makeKey(authorisation: authorisation)
            let message = Array("holdfast doctor".utf8)
            // It is verified there before it is given back.
            _ = try unsafe keys.sign(message.span.bytes, with: key, authorisation: authorisation)
            try keys.delete(key)
        } catch let error as KeyStoreError { throw error } catch {
            throw KeyStoreError(.outOfMemory, "\(error)")
        }
    }

    private static func attempts(_ tier: TPMAttemptTier) -> Finding {
        do throws(KeyStoreError) {
            try tier.roundTrip()
            return Finding(
                part: "tpm", state: .good, assurance: .hardwareLimited,
                words: "the TPM seals, signs, and counted a wrong attempt and gave a share for the right one",
                fix: nil)
        } catch {
            if error.code == .unsupported {
                return Finding(
                    part: "tpm", state: .good, assurance: .hardwareBound,
                    words: "the TPM seals and signs, and does not count attempts (\(error.reason))")
            }
            return Finding(part: "tpm", error, fix: "clear the TPM's owner authorisation, or enrol before it is set")
        }
    }

    private static func keyring(_ request: Request) -> Finding {
        let store = SecretServiceStore()
        do throws(KeyStoreError) {
            if request.isDeep { try store.roundTrip() } else { try store.probe() }
            return Finding(
                part: "keyring", state: .good, assurance: store.assurance,
                words: "the session's keyring is open" + (request.isDeep ? ", took a share and gave it back" : ""))
        } catch {
            let isLocked = error.code == .lockedOut
            return Finding(
                part: "keyring", error,
                fix: isLocked
                    ? "unlock it: log in with the password, or open the desktop's password program"
                    : "install gnome-keyring and libsecret-1-0, and start the session with them")
        }
    }

    private static func files(_ request: Request) -> Finding {
        let store = FileKeyStore(in: request.home + "/shares")
        guard Vault.isVault(at: request.home) else {
            return Finding(
                part: "files", state: .missing, words: "there is no vault whose folder could hold a share",
                fix: "holdfast init")
        }
        do throws(KeyStoreError) {
            if request.isDeep { try store.roundTrip() } else { try store.probe() }
            return Finding(
                part: "files", state: .good, assurance: store.assurance,
                words: "a share in a file is read by every program of this user; used where nothing better is there")
        } catch { return Finding(part: "files", error, fix: "make the vault's folder writable for its user") }
    }

    private static func fingerprint(_ request: Request) -> Finding {
        let authenticator = OwnerAuthenticator(request.places)
        return Finding(
            "fingerprint", authenticator.capability(of: .biometrics),
            good: "a finger is enrolled and the sensor answers",
            fix: { capability in
                switch capability {
                case .notEnrolled: "enrol a finger: fprintd-enroll"
                case .busy: "end what uses the sensor (a login screen), or systemctl restart fprintd"
                case .lockedOut: "wait, or unlock the session with the password once"
                case .missing: "connect a sensor that libfprint knows, and install fprintd"
                case .available: nil
                }
            })
    }

    private static func passcode(_ request: Request) -> Finding {
        let authenticator = OwnerAuthenticator(request.places)
        return Finding(
            "devicePasscode", authenticator.capability(of: .devicePasscode),
            good: "PAM has rules for Holdfast; whether they take the password is only known when it is typed",
            fix: { $0 == .available ? nil : "install Docs/pam/holdfast as /etc/pam.d/holdfast (as root)" })
    }

    private static func session(_ request: Request) -> Finding {
        let watch = SessionWatch(request.watch)
        guard watch.missing.isEmpty else {
            let all = watch.missing.joined(separator: "; ")
            return Finding(
                part: "session", state: .missing, words: "not listened to: \(all)",
                fix: "the agent then locks by its timers only; run it in a session with systemd-logind")
        }
        return Finding(
            part: "session", state: .good,
            words: "lock, sleep and lid are heard, and sleep waits until the keys are gone")
    }
}

extension Finding {
    init(part: String, _ error: KeyStoreError, fix: String) {
        let state: State =
            switch error.code {
            case .unavailable: .missing
            case .lockedOut, .ownedByAnother: .unready
            case .busy: .slow
            default: .broken
            }
        self.init(part: part, state: state, words: error.reason, fix: fix)
    }

    init(_ part: String, _ capability: OwnerCapability, good: String, fix: (OwnerCapability) -> String?) {
        let state: State =
            switch capability {
            case .available: .good
            case .notEnrolled, .lockedOut: .unready
            case .busy: .slow
            case .missing: .missing
            }
        self.init(
            part: part, state: state, assurance: state == .missing ? nil : .presence, words: capability.why ?? good,
            fix: fix(capability))
    }
}
