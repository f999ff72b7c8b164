internal import DeviceOwner
internal import HoldfastDoctor

// What the doctor finds, in the command's words: other user interfaces have their own.

extension Finding {
    /// What was found.
    var words: String {
        switch evidence {
        case .silent: "gave no answer in time"
        case .memory(_, let isHidden):
            isHidden
                ? "secrets lie in memory that the kernel itself does not map"
                : "secrets lie in memory that is never swapped"
        case .chipAbsent:
            "this machine shows no TPM 2.0: the passcode's own strength is all that protects a stolen copy"
        case .chipForbidden: "there is a TPM, and this user may not use it"
        case .chipAnswers: "the TPM answers (whether it counts attempts is tried with --deep)"
        case .chipCounts: "the TPM seals, signs, and counted a wrong attempt and gave a key for the right one"
        case .chipSealsOnly(let reason): "the TPM seals and signs, and does not count attempts (\(reason))"
        case .keyringOpen(let isTried):
            "the session's keyring is open" + (isTried ? ", took a key and gave it back" : "")
        case .noVault: "there is no vault whose folder could hold a key"
        case .folderWorks:
            "any program you run can read a key in a file; used where nothing better is there"
        case .folderSynced(let folder, let program): "\(program) syncs \(folder), which damages vaults"
        case .fingerprint(let capability): capability.why ?? "a finger is enrolled and the sensor answers"
        case .devicePasscode(let capability):
            capability.why
                ?? "PAM has rules for Holdfast; whether they take the password is only known when it is typed"
        case .sessionHeard: "lock, sleep and lid are heard, and sleep waits until the keys are gone"
        case .sessionDeaf(let missing): "not listened to: \(missing.joined(separator: "; "))"
        case .vaultNeedsChip: "its passcode needs a TPM that does not answer here"
        case .vaultWithoutSecret(asksOwner: true): "it opens after asking the owner of this device, without a secret"
        case .vaultWithoutSecret(asksOwner: false):
            "it opens without asking: whoever uses this account here can read it"
        case .vaultUnderChip: "the passcode is under the TPM; a copy of the vault cannot be searched elsewhere"
        case .vaultUnderPasscode: "only the passcode's own strength protects a copy of the vault against a search"
        case .chipOwned(let reason), .chipFailed(let reason), .chipCountingFailed(let reason),
            .keyringLocked(let reason),
            .keyringFailed(let reason), .folderFailed(let reason), .vaultUnreadable(let reason),
            .vaultRules(let reason):
            reason
        }
    }

    /// What a share is worth that is kept here and opens a vault without a secret; nil for parts that keep none.
    var worth: String? {
        switch evidence {
        case .chipAnswers, .chipCounts, .chipSealsOnly:
            "a key kept here protects a stolen disk, not a stolen machine. One that was removed stays removed, except in "
                + "a virtual machine that is put back with its TPM. A reset of the chip, which a firmware update can "
                + "cause, loses all keys"
        case .keyringOpen:
            "a key kept here is as safe as the login password, and any program you run can read it. An older copy of "
                + "the keyring's file still has keys that were removed"
        case .folderWorks:
            "a key kept here is on the stolen disk too, and an older copy of the folder still has keys that were "
                + "removed"
        default: nil
        }
    }

    /// What to do about it; nil where there is nothing to do.
    var fix: String? {
        switch evidence {
        case .silent: fixOfSilence
        case .memory(_, let isHidden): isHidden ? nil : "a kernel built with CONFIG_SECRETMEM would not map them either"
        case .chipAbsent:
            "switch the TPM on in the firmware's settings, if there is one; or name one in $HOLDFAST_TPM"
        case .chipForbidden(let device):
            "add the user to the group of \(device) (usermod -aG tss USER), and log in again"
        case .chipFailed: "look at the firmware's settings of the TPM"
        case .chipOwned, .chipCountingFailed: "clear the TPM's owner authorisation, or enroll before it is set"
        case .keyringLocked: "unlock it: log in with the password, or open the desktop's password program"
        case .keyringFailed:
            state == .broken ? fixOfSilence : "install gnome-keyring and libsecret-1-0, and start the session with them"
        case .noVault: "holdfast init makes one"
        case .folderFailed: "make the vault's folder writable for its user"
        case .folderSynced: "move the vault out of it, and put backups there (holdfast backup)"
        case .fingerprint(let capability):
            switch capability {
            case .notEnrolled: "enroll a finger: fprintd-enroll"
            case .busy: "end what uses the sensor (a login screen), or systemctl restart fprintd"
            case .lockedOut: "wait, or unlock the session with the password once"
            case .missing, .denied: "connect a sensor that libfprint knows, and install fprintd"
            case .broken: "journalctl -u fprintd tells why; then systemctl restart fprintd"
            case .available: nil
            }
        case .devicePasscode(let capability):
            capability == .available
                ? nil : "copy pam/holdfast from the documents of Holdfast to /etc/pam.d/holdfast (as root)"
        case .sessionDeaf where state == .slow: fixOfSilence
        case .sessionDeaf: "the agent then locks by its timers only; run it in a session with systemd-logind"
        case .vaultUnreadable: "holdfast verify tells more"
        case .vaultNeedsChip: "use the machine it was enrolled on, or the recovery phrase (holdfast recover)"
        case .vaultRules: "holdfast lock-policy set changes them"
        case .vaultWithoutSecret: "holdfast open-without-asking off gives it a passcode and a recovery phrase"
        case .vaultUnderPasscode: "holdfast enroll tpm puts the passcode under the TPM, where there is one"
        case .chipAnswers, .chipCounts, .chipSealsOnly, .keyringOpen, .folderWorks, .sessionHeard, .vaultUnderChip:
            nil
        }
    }

    private var fixOfSilence: String? {
        switch part {
        case .memory: nil
        case .tpm: "look whether another program holds the TPM (tpm2-abrmd)"
        case .keyring: "start the session again, or its keyring program"
        case .files, .vault: "look whether the disk answers"
        case .fingerprint: "systemctl restart fprintd"
        case .devicePasscode: "look at the rules in /etc/pam.d/holdfast"
        case .session: "look whether the system bus answers"
        }
    }
}

extension Finding {
    /// What all of it comes to, in one or two sentences.
    static func verdict(_ findings: [Finding]) -> String {
        let broken = findings.filter { [.broken, .slow].contains($0.state) }.map(\.part.words)
        let rest = broken.isEmpty ? "" : " Look at: \(broken.joined(separator: ", "))."
        let vault = findings.first { $0.part == .vault }
        switch vault?.evidence {
        case .vaultUnderChip: return "The vault is well protected: a copy of it cannot be guessed elsewhere." + rest
        case .vaultUnderPasscode:
            return "The vault is as strong as its passcode: a copy of it can be guessed without limit." + rest
        case .vaultWithoutSecret(asksOwner: false):
            return "The vault opens for anyone who uses this account: nothing is asked for on this machine."
                + rest
        case .vaultWithoutSecret(asksOwner: true): return "The vault opens for the owner of this device." + rest
        case .vaultNeedsChip, .vaultUnreadable: return "The vault cannot be opened as usual here." + rest
        case .vaultRules: return "The vault has rules that cannot be kept here." + rest
        default: return "There is no vault here yet." + rest
        }
    }
}
