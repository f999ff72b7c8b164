internal import Holdfast
internal import Observation
internal import SystemCalls

/// Something that a vault lacks. It is told until it is there, or until its user sends it away for a while.
package enum ProtectionAdvice: String, Sendable, Hashable, CaseIterable {
    /// Nobody is asked before the vault opens.
    case passcode = "passcode"
    /// A lost passcode or device loses everything.
    case phrase = "phrase"
    /// No backup was made.
    case backup = "backup"

    /// Seconds that an advice stays away after its user said "not now".
    package static let silence: Int64 = 30 * 86_400

    /// What is missing, the most urgent first.
    /// - Parameters:
    ///   - facts: How the vault is protected.
    ///   - isEmpty: Whether there is nothing in it that could be lost.
    package static func missing(_ facts: ProtectionFacts, isEmpty: Bool) -> [ProtectionAdvice] {
        var missing: [ProtectionAdvice] = []
        if case .nobody = facts.asks { missing.append(.passcode) }
        if !facts.isRecoverable { missing.append(.phrase) }
        // Without a passcode and a phrase a copy would open nowhere.
        if facts.hasBackup == false, !isEmpty, facts.hasPasscode || facts.isRecoverable { missing.append(.backup) }
        return missing
    }
}

/// What the vault lacks and is to be told of. A user interface shows ``shown`` with a button for what mends it and one
/// for ``dismiss(_:)``.
@MainActor @Observable
package final class AdviceModel {
    @ObservationIgnored private let lock: LockModel
    @ObservationIgnored private let protection: ProtectionModel
    @ObservationIgnored private let settings: SecuritySettingsModel
    @ObservationIgnored private let preferences: PreferencesModel
    @ObservationIgnored private let vault: VaultModel
    @ObservationIgnored private let backup: BackupModel
    @ObservationIgnored private let now: @Sendable () -> Int64

    /// - Parameter now: Seconds since 1970.
    init(
        _ lock: LockModel, _ protection: ProtectionModel, _ settings: SecuritySettingsModel,
        _ preferences: PreferencesModel, _ vault: VaultModel, _ backup: BackupModel,
        now: @escaping @Sendable () -> Int64 = { WallClock.milliseconds / 1000 }
    ) {
        (self.lock, self.protection, self.settings) = (lock, protection, settings)
        (self.preferences, self.vault, self.backup, self.now) = (preferences, vault, backup, now)
    }

    /// How the vault is protected; nil until that was read.
    package var facts: ProtectionFacts? {
        guard let protection = protection.protection else { return nil }
        var facts = ProtectionFacts(protection)
        facts.isUnderChip = settings.isUnderChip
        facts.countsGuesses = settings.passcodeAssurance == .hardwareLimited
        facts.isLockOn = settings.policy?.isLockEnabled ?? false
        facts.hasBackup = backup.isKnown ? backup.lastBackup != nil : nil
        return facts
    }

    /// The most urgent advice that its user did not send away; nil where nothing is missing, and while the vault is
    /// locked.
    package var shown: ProtectionAdvice? {
        guard let facts, vault.isLoaded, !lock.isLocked else { return nil }
        let (values, now) = (preferences.values, now())
        return ProtectionAdvice.missing(facts, isEmpty: vault.collections.isEmpty).first {
            !values.silences($0, at: now)
        }
    }

    /// Not now: it stays away for ``ProtectionAdvice/silence``.
    package func dismiss(_ advice: ProtectionAdvice) async {
        let end = now() + ProtectionAdvice.silence
        await preferences.change { $0.silenced[advice] = end }
    }
}
