import GtkKit
import HoldfastUI

/// What the doctor found, in the user's words.
enum DoctorText {
    static func of(_ part: Finding.Part) -> String {
        switch part {
        case .memory: tr("Memory")
        case .tpm: tr("Security chip (TPM)")
        case .keyring: tr("Session keyring")
        case .files: tr("Vault folder")
        case .fingerprint: tr("Fingerprint reader")
        case .devicePasscode: tr("Account password")
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
        case .deep: trn("%d part was tested just now", "%d parts were tested just now", good)
        }
    }

    /// Reasons in English come from the chip's library, the bus or the vault, and help whoever mends it.
    static func found(_ finding: Finding) -> String {
        switch finding.evidence {
        case .silent: tr("It did not respond in time.")
        case .memory(_, true): tr("What is open is kept in memory that even the system cannot look into.")
        case .memory(_, false): tr("What is open is kept in memory that is never written to disk.")
        case .chipAbsent:
            tr("This computer has none. Only the passcode's strength protects a stolen copy.")
        case .chipForbidden: tr("There is one, but you are not allowed to use it.")
        case .chipAnswers: tr("It responds. The test shows whether it counts wrong passcodes.")
        case .chipCounts: tr("It counted a wrong passcode, and opened with the correct one.")
        case .chipSealsOnly: tr("It works, but does not count wrong passcodes.")
        case .chipOwned(let reason): tr("Unavailable: %s", reason)
        case .chipFailed(let reason): tr("Unavailable: %s", reason)
        case .chipCountingFailed(let reason): tr("It works, but counting wrong passcodes failed: %s", reason)
        case .keyringOpen(true): tr("It is open, and gave back what was stored in it.")
        case .keyringOpen(false): tr("It is open.")
        case .keyringLocked: tr("It is locked.")
        case .keyringFailed(let reason): tr("Unavailable: %s", reason)
        case .noVault: tr("There is no vault yet.")
        case .folderWorks: tr("It can be written to.")
        case .folderFailed(let reason): tr("Unavailable: %s", reason)
        case .folderSynced(let folder, let program):
            tr("%s syncs %s, where the vault is. A sync damages vaults.", program, folder)
        case .fingerprint(let capability): of(capability)
        case .devicePasscode(.available):
            tr("The system can check it for Holdfast.")
        case .devicePasscode(let capability): tr("Unavailable: %s", capability.why ?? "")
        case .sessionHeard: tr("Holdfast is told about lock, sleep and lid. Sleep waits until the keys are gone.")
        case .sessionDeaf(let missing): tr("Not available: %s", missing.joined(separator: "; "))
        case .vaultUnreadable(let reason): tr("It cannot be read: %s", reason)
        case .vaultNeedsChip: tr("Its passcode needs a security chip that does not answer here.")
        case .vaultRules(let issue): tr("Its settings contradict each other: %s", issue)
        case .vaultWithoutSecret(asksOwner: true):
            tr("It asks whether it is you, and has no passcode.")
        case .vaultWithoutSecret(asksOwner: false):
            tr("It opens without asking: anyone who uses your session can read it.")
        case .vaultUnderChip:
            tr("Its passcode works only together with the security chip. A copy cannot be guessed at elsewhere.")
        case .vaultUnderPasscode:
            tr("Only the passcode's strength protects a copy of the vault against guessing.")
        }
    }

    private static func of(_ capability: OwnerCapability) -> String {
        switch capability {
        case .available: tr("A finger is enrolled and the reader works.")
        case .notEnrolled: SettingsText.of(.notEnrolled)
        case .lockedOut: SettingsText.of(.lockedOut)
        case .busy: SettingsText.of(.busy)
        case .missing, .denied: SettingsText.of(.missing)
        case .broken(let why): tr("Unavailable: %s", why)
        }
    }

    /// What to do about it; nil where there is nothing to do.
    static func fix(_ finding: Finding) -> String? {
        switch finding.evidence {
        case .silent: silence(finding.part)
        case .memory(_, let isHidden):
            isHidden ? nil : tr("A kernel that is built with CONFIG_SECRETMEM hides it from the kernel itself.")
        case .chipAbsent: tr("Turn it on in the firmware's settings, if there is one.")
        case .chipForbidden(let device): tr("Join the group of %s (usermod -aG tss) and log in again.", device)
        case .chipFailed: tr("Check the chip's settings in the firmware.")
        case .chipOwned, .chipCountingFailed: tr("Remove the owner password that another program has set in the chip.")
        case .keyringLocked: tr("Log in with your password, or open the desktop's password manager.")
        case .keyringFailed where finding.state == .broken: silence(.keyring)
        case .keyringFailed: tr("Install gnome-keyring and libsecret, and start the session with them.")
        case .noVault: nil
        case .folderFailed: tr("Make the vault folder writable.")
        case .folderSynced: tr("Move the vault out of this folder. Backups may be put there.")
        case .fingerprint(let capability):
            switch capability {
            case .notEnrolled: tr("Enroll a finger in the system's settings.")
            case .busy: tr("Close the program that uses the reader, or restart fprintd.")
            case .broken: tr("Restart fprintd.")
            case .lockedOut: tr("Wait, or unlock the session with the password once.")
            case .missing, .denied: tr("Connect a reader that libfprint supports, and install fprintd.")
            case .available: nil
            }
        case .devicePasscode(let capability):
            capability == .available
                ? nil : tr("The administrator of this computer can set it up: it needs the file /etc/pam.d/holdfast.")
        case .sessionDeaf where finding.state == .slow: silence(.session)
        case .sessionDeaf:
            tr("It then locks only by the times in the settings. It needs a session with systemd-logind.")
        case .vaultUnreadable: tr("Restore a backup.")
        case .vaultNeedsChip: tr("Use the computer that it was set up on, or the recovery phrase.")
        case .vaultRules: tr("Change them in the settings.")
        case .vaultWithoutSecret:
            tr("Set a passcode in the settings.")
        case .vaultUnderPasscode: tr("Where there is a security chip, use it: it is turned on in the settings.")
        case .chipAnswers, .chipCounts, .chipSealsOnly, .keyringOpen, .folderWorks, .sessionHeard, .vaultUnderChip:
            nil
        }
    }

    private static func silence(_ part: Finding.Part) -> String? {
        switch part {
        case .memory: nil
        case .tpm: tr("Check whether another program uses the chip.")
        case .keyring: tr("Restart the session's keyring program.")
        case .files, .vault: tr("Check whether the disk responds.")
        case .fingerprint: tr("Restart fprintd.")
        case .devicePasscode: tr("Check the file /etc/pam.d/holdfast.")
        case .session: tr("Check whether the system bus responds.")
        }
    }
}
