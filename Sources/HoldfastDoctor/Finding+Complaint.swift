extension Finding {
    /// Whether something can be done about what was found. What to do is told by the face that shows it.
    package var canBeImproved: Bool {
        switch evidence {
        case .silent: part != .memory
        case .memory(_, let isHidden): !isHidden
        case .fingerprint(let capability), .devicePasscode(let capability): capability != .available
        case .chipAbsent, .chipForbidden, .chipFailed, .chipOwned, .chipCountingFailed, .keyringLocked, .keyringFailed,
            .noVault, .folderFailed, .folderSynced, .sessionDeaf, .vaultUnreadable, .vaultNeedsChip, .vaultRules,
            .vaultUnderPasscode,
            .vaultWithoutSecret:
            true
        case .chipAnswers, .chipCounts, .chipSealsOnly, .keyringOpen, .folderWorks, .sessionHeard, .vaultUnderChip:
            false
        }
    }
}
