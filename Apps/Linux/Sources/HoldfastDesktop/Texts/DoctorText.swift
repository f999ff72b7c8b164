import GtkKit
import HoldfastUI

/// What the doctor found, in the user's words.
enum DoctorText {
    static func of(_ part: Finding.Part) -> String {
        switch part {
        case .memory: tr("Memory")
        case .tpm: tr("Security chip (TPM)")
        case .keyring: tr("Keyring of the session")
        case .files: tr("Folder of the vault")
        case .fingerprint: tr("Fingerprint reader")
        case .devicePasscode: tr("Password of the account")
        case .session: tr("Session")
        case .vault: tr("This vault")
        }
    }

    static func icon(of part: Finding.Part) -> String {
        switch part {
        case .memory: "drive-harddisk-solidstate-symbolic"
        case .tpm: "security-high-symbolic"
        case .keyring: "dialog-password-symbolic"
        case .files: "folder-symbolic"
        case .fingerprint: "auth-fingerprint-symbolic"
        case .devicePasscode: "avatar-default-symbolic"
        case .session: "computer-symbolic"
        case .vault: "changes-prevent-symbolic"
        }
    }

    static func of(_ state: Finding.State) -> String {
        switch state {
        case .good: tr("Works")
        case .unready: tr("Not ready")
        case .missing: tr("Not there")
        case .broken: tr("Broken")
        case .slow: tr("No answer")
        }
    }

    static func style(of state: Finding.State) -> String {
        switch state {
        case .good: "success"
        case .unready, .slow: "warning"
        case .missing: "dim-label"
        case .broken: "error"
        }
    }

    static func summary(_ findings: [Finding], _ depth: DoctorModel.Depth) -> String {
        guard !findings.isEmpty else { return "" }
        let broken = findings.count { $0.state == .broken }
        if broken > 0 { return trn("%d part is broken", "%d parts are broken", broken) }
        let good = findings.count { $0.state == .good }
        return switch depth {
        case .quick: trn("%d part works", "%d parts work", good)
        case .deep: trn("%d part was made to work just now", "%d parts were made to work just now", good)
        }
    }

    /// Reasons in English come from the chip's library, the bus or the vault, and help whoever mends it.
    static func found(_ finding: Finding) -> String {
        switch finding.evidence {
        case .silent: tr("It gave no answer in time.")
        case .memory(_, true): tr("Secrets lie in memory that the kernel itself does not see.")
        case .memory(_, false): tr("Secrets lie in memory that is kept out of swap.")
        case .chipAbsent:
            tr("This machine shows none. The passcode's own strength is all that protects a stolen copy.")
        case .chipForbidden: tr("There is one, and you may not use it.")
        case .chipAnswers: tr("It answers. Whether it counts attempts is found by trying.")
        case .chipCounts: tr("It sealed, signed, counted a wrong attempt, and gave its share for the right one.")
        case .chipSealsOnly: tr("It seals and signs, and does not count attempts.")
        case .chipOwned(let reason): tr("It cannot be used: %s", reason)
        case .chipFailed(let reason): tr("It cannot be used: %s", reason)
        case .chipCountingFailed(let reason): tr("It seals and signs, and cannot be made to count: %s", reason)
        case .keyringOpen(true): tr("It is open, took a share and gave it back.")
        case .keyringOpen(false): tr("It is open.")
        case .keyringLocked: tr("It is locked.")
        case .keyringFailed(let reason): tr("It cannot be used: %s", reason)
        case .noVault: tr("There is no vault yet.")
        case .folderWorks: tr("Every program of yours can read a share in it. Used where nothing better is there.")
        case .folderFailed(let reason): tr("It cannot be used: %s", reason)
        case .fingerprint(let capability): of(capability)
        case .devicePasscode(.available):
            tr("There are rules for Holdfast. Whether they take your password is known when you type it.")
        case .devicePasscode(let capability): tr("It cannot be asked for: %s", capability.why ?? "")
        case .sessionHeard: tr("Lock, sleep and lid are heard. Sleep waits until the keys are gone.")
        case .sessionDeaf(let missing): tr("Not heard: %s", missing.joined(separator: "; "))
        case .vaultUnreadable(let reason): tr("It cannot be read: %s", reason)
        case .vaultNeedsChip: tr("Its passcode needs a chip that cannot be asked here.")
        case .vaultRules(let issue): tr("Its rules do not fit: %s", issue)
        case .vaultUnderChip: tr("The passcode is under the chip. A copy of the vault cannot be searched elsewhere.")
        case .vaultUnderPasscode:
            tr("Only the passcode's own strength protects a copy of the vault against a search.")
        }
    }

    private static func of(_ capability: OwnerCapability) -> String {
        switch capability {
        case .available: tr("A finger is enrolled and the reader answers.")
        case .notEnrolled: SettingsText.of(.notEnrolled)
        case .lockedOut: SettingsText.of(.lockedOut)
        case .busy: SettingsText.of(.busy)
        case .missing: SettingsText.of(.missing)
        case .broken(let why): tr("It cannot be used: %s", why)
        }
    }

    /// What to do about it; nil where there is nothing to do.
    static func fix(_ finding: Finding) -> String? {
        switch finding.evidence {
        case .silent: silence(finding.part)
        case .memory(_, let isHidden):
            isHidden ? nil : tr("A kernel with CONFIG_SECRETMEM would hide them from itself.")
        case .chipAbsent: tr("Switch it on in the firmware's settings, if there is one.")
        case .chipForbidden(let device): tr("Join the group of %s (usermod -aG tss) and log in again.", device)
        case .chipFailed: tr("Look at the firmware's settings of the chip.")
        case .chipOwned, .chipCountingFailed: tr("Clear the chip's owner authorisation, or enroll before it is set.")
        case .keyringLocked: tr("Log in with your password, or open the desktop's password program.")
        case .keyringFailed where finding.state == .broken: silence(.keyring)
        case .keyringFailed: tr("Install gnome-keyring and libsecret, and start the session with them.")
        case .noVault: nil
        case .folderFailed: tr("Make the folder of the vault writable for you.")
        case .fingerprint(let capability):
            switch capability {
            case .notEnrolled: tr("Enroll a finger in the system's settings.")
            case .busy: tr("End what uses the reader, or start fprintd again.")
            case .broken: tr("Start fprintd again.")
            case .lockedOut: tr("Wait, or unlock the session with the password once.")
            case .missing: tr("Connect a reader that libfprint knows, and install fprintd.")
            case .available: nil
            }
        case .devicePasscode(let capability):
            capability == .available ? nil : tr("As root, install Docs/pam/holdfast as /etc/pam.d/holdfast.")
        case .sessionDeaf where finding.state == .slow: silence(.session)
        case .sessionDeaf: tr("Only the times in the settings lock then. Run it in a session with systemd-logind.")
        case .vaultUnreadable: tr("The command holdfast verify tells more.")
        case .vaultNeedsChip: tr("Use the machine it was enrolled on, or the recovery phrase.")
        case .vaultRules: tr("The command holdfast lock-policy changes them.")
        case .vaultUnderPasscode: tr("The command holdfast enroll tpm puts the passcode under the chip.")
        case .chipAnswers, .chipCounts, .chipSealsOnly, .keyringOpen, .folderWorks, .sessionHeard, .vaultUnderChip:
            nil
        }
    }

    private static func silence(_ part: Finding.Part) -> String? {
        switch part {
        case .memory: nil
        case .tpm: tr("Look whether another program holds the chip.")
        case .keyring: tr("Start the session's keyring program again.")
        case .files, .vault: tr("Look whether the disk answers.")
        case .fingerprint: tr("Start fprintd again.")
        case .devicePasscode: tr("Look at the rules in /etc/pam.d/holdfast.")
        case .session: tr("Look whether the system bus answers.")
        }
    }
}
