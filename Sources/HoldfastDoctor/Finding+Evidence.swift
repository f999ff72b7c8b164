@_exported public import DeviceOwner

extension Finding {
    /// What was found at a part. Reasons are English, from where they arose: the chip's library, the bus, the vault.
    package enum Evidence: Sendable, Hashable {
        /// It gave no answer in time.
        case silent

        /// Where secrets lie; hidden from the kernel itself, or only kept out of swap.
        case memory(protection: String, isHidden: Bool)

        /// This machine shows no TPM 2.0.
        case chipAbsent
        /// There is one, and this user may not open its device.
        case chipForbidden(device: String)
        /// It answers; nothing was tried.
        case chipAnswers
        /// It sealed, signed, and counted a wrong attempt.
        case chipCounts
        /// It sealed and signed, and does not count attempts.
        case chipSealsOnly(reason: String)
        /// Its owner has set an authorisation that we do not know.
        case chipOwned(reason: String)
        /// It does not do what it should.
        case chipFailed(reason: String)
        /// It seals and signs, and counting attempts failed.
        case chipCountingFailed(reason: String)

        /// The keyring is open; whether it took a share and gave it back.
        case keyringOpen(isTried: Bool)
        /// It is locked.
        case keyringLocked(reason: String)
        /// It is not there, or does not do what it should.
        case keyringFailed(reason: String)

        /// There is no vault whose folder could be looked at.
        case noVault
        /// The folder takes shares.
        case folderWorks
        /// It does not.
        case folderFailed(reason: String)
        /// A program keeps it, or one above it, alike on several machines, which damages vaults.
        case folderSynced(folder: String, program: String)

        /// What the fingerprint sensor can do now.
        case fingerprint(OwnerCapability)
        /// What the check of the account's passcode can do now.
        case devicePasscode(OwnerCapability)

        /// Lock, sleep and lid are heard.
        case sessionHeard
        /// Some of them are not.
        case sessionDeaf(missing: [String])

        /// The vault cannot be read.
        case vaultUnreadable(reason: String)
        /// Its passcode needs a TPM that does not answer here.
        case vaultNeedsChip
        /// Its rules contradict themselves or this machine.
        case vaultRules(issue: String)
        /// It opens without a secret: after asking the device's owner, or without asking at all.
        case vaultWithoutSecret(asksOwner: Bool)
        /// The passcode is under the TPM.
        case vaultUnderChip
        /// Only the passcode's own strength protects a copy of the vault.
        case vaultUnderPasscode
    }
}
