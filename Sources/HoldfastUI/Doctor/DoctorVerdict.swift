package import HoldfastDoctor

/// What stands between the vault and whoever wants to read it, and what would make that better. A user interface says
/// it in one sentence, before anything that the doctor found.
package struct DoctorVerdict: Sendable, Hashable {
    /// How it stands.
    package enum Standing: Sendable, Hashable {
        /// The vault's files cannot be read.
        case unreadable
        /// Its folder takes nothing new.
        case unwritable
        /// A program keeps its folder alike on several machines.
        case synced(folder: String, program: String)
        /// Its passcode needs a chip that does not answer here.
        case withoutItsChip
        /// Its rules contradict each other, or this machine.
        case contradicted
        /// It opens without asking, with a key that rests there.
        case open(ProtectionFacts.Place)
        /// The device's owner is asked, in front of a key that rests there.
        case asking(ProtectionFacts.Place)
        /// A passcode, and nothing that counts or slows down guesses at a copy.
        case passcode(Chip)
        /// A passcode together with the machine's chip; whether that counts wrong ones.
        case chip(counts: Bool)
    }

    /// Whether a passcode could be put under a chip.
    package enum Chip: Sendable, Hashable, CaseIterable {
        /// There is one that works.
        case usable
        /// There is one that cannot be used as things are.
        case unusable
        /// There is none.
        case absent
    }

    /// What can be done about it within the app.
    package enum Step: Sendable, Hashable, CaseIterable {
        /// Set a passcode.
        case passcode
        /// Write down a recovery phrase.
        case phrase
        /// Put the passcode under the chip.
        case chip
        /// Make a backup.
        case backup
        /// Turn the app lock on.
        case lock
        /// Look at the settings.
        case settings
    }

    /// How good that is, for a colour.
    package enum Grade: Sendable, Hashable {
        /// Whoever steals the disk gets nothing, and cannot guess.
        case good
        /// Something could be better.
        case fair
        /// Anyone with the disk reads it, or it is in danger.
        case poor
    }

    /// The most ``steps`` that are told: more are not read.
    package static let mostSteps = 3

    /// How it stands.
    package let standing: Standing
    /// What would make it better, the most useful first.
    package let steps: [Step]

    /// - Parameters:
    ///   - facts: What protects the vault.
    ///   - findings: What the doctor found; of a look that was made.
    package init(_ facts: ProtectionFacts, _ findings: [Finding]) {
        let chip = Chip(findings)
        standing = Standing(trouble: findings) ?? Standing(facts, chip)
        steps = Array(DoctorVerdict.steps(standing, facts, chip).prefix(DoctorVerdict.mostSteps))
    }

    /// How good it is.
    package var grade: Grade {
        switch standing {
        case .chip: steps.isEmpty ? .good : .fair
        case .passcode, .asking(.chip), .asking(.keyring), .open(.chip), .open(.keyring), .contradicted: .fair
        case .open(.files), .asking(.files), .unreadable, .unwritable, .synced, .withoutItsChip: .poor
        }
    }

    private static func steps(_ standing: Standing, _ facts: ProtectionFacts, _ chip: Chip) -> [Step] {
        switch standing {
        // Nothing that the app does helps before the files can be read and written.
        case .unreadable, .unwritable: return []
        case .synced, .withoutItsChip, .contradicted, .open, .asking, .passcode, .chip: break
        }
        var steps: [Step] = []
        if standing == .contradicted { steps.append(.settings) }
        if !facts.hasPasscode { steps.append(.passcode) }
        if !facts.isRecoverable { steps.append(.phrase) }
        // It asks for the words.
        if standing == .passcode(.usable), facts.isRecoverable { steps.append(.chip) }
        // A copy of a vault with neither would open nowhere.
        if facts.hasBackup == false, facts.hasPasscode || facts.isRecoverable { steps.append(.backup) }
        if facts.hasPasscode, !facts.isLockOn { steps.append(.lock) }
        return steps
    }
}

extension DoctorVerdict.Standing {
    /// What is worse than any protection is good; nil where there is nothing of the kind.
    init?(trouble findings: [Finding]) {
        for finding in findings {
            switch finding.evidence {
            case .vaultUnreadable: self = .unreadable
            case .folderFailed: self = .unwritable
            case .folderSynced(let folder, let program): self = .synced(folder: folder, program: program)
            case .vaultNeedsChip: self = .withoutItsChip
            case .vaultRules: self = .contradicted
            default: continue
            }
            return
        }
        return nil
    }

    init(_ facts: ProtectionFacts, _ chip: DoctorVerdict.Chip) {
        switch facts.asks {
        case .nobody(let place): self = .open(place)
        case .owner(let place): self = .asking(place)
        case .secret where facts.isUnderChip: self = .chip(counts: facts.countsGuesses)
        case .secret: self = .passcode(chip)
        }
    }
}

extension DoctorVerdict.Chip {
    init(_ findings: [Finding]) {
        switch findings.first(where: { $0.part == .tpm })?.evidence {
        case .chipAnswers, .chipCounts, .chipSealsOnly: self = .usable
        case .chipForbidden, .chipFailed, .chipOwned, .chipCountingFailed, .silent: self = .unusable
        default: self = .absent
        }
    }
}
