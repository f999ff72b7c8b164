package import VaultHeader
package import VaultFormat

/// What the shell around the machine does, in this order.
package enum LockEffect: Sendable, Hashable {
    /// Wipe every key, first of all.
    case dropKeys
    /// End the prompt with this number; its outcome is not waited for.
    case cancelAuthentication(UInt64)
    /// Forget the pending change of self-destruct: nothing is changed.
    case cancelSelfDestructChange
    /// Hide content from sight and from screen readers.
    case showCover
    /// Put up the one lock screen.
    case presentLockScreen
    /// These settings hold now.
    case applySettings(LockSettings)
    /// The settings that were asked for do not hold: put the switch back and show why.
    case revertSettings(AuthenticationOutcome)
    /// Show content again; only ever asked for while unlocked or disabled.
    case hideCover
    /// Take the lock screen down.
    case dismissLockScreen
    /// Send ``LockMachine/Event/timeout`` at this instant; replaces an earlier one.
    case startTimer(BootInstant)
    /// No timer is needed any more.
    case stopTimer
    /// Start the prompt with this number.
    case beginAuthentication(UInt64)
    /// Wipe the vault, and send ``LockMachine/Event/wipeFinished`` when nothing is left.
    case beginWipe
    /// Tell observers and the security log.
    case record(LockRecord)
    /// End the process: it holds nothing that is still true.
    case terminate

    /// Its place among the effects of one event: keys go before anything can be seen to happen.
    var order: Int {
        switch self {
        case .dropKeys: 0
        case .cancelAuthentication: 1
        case .cancelSelfDestructChange: 2
        case .showCover: 3
        case .presentLockScreen: 4
        case .applySettings, .revertSettings: 5
        case .hideCover: 6
        case .dismissLockScreen: 7
        case .startTimer, .stopTimer: 8
        case .beginAuthentication: 9
        case .record: 10
        case .beginWipe: 11
        case .terminate: 12
        }
    }
}

/// One thing that happened to the lock, for observers and the security log. Nothing in it is secret.
package enum LockRecord: Sendable, Hashable {
    /// Shut, and by what.
    case locked(LockReason)
    /// Opened, and by what; nil where nobody was asked.
    case unlocked(by: UnlockMethod?)
    /// A prompt to open it ended otherwise.
    case notUnlocked(AuthenticationOutcome)
    /// Settings changed.
    case settingsChanged(LockSettings)
    /// Settings that were asked for do not hold, because the prompt for them ended so.
    case settingsReverted(AuthenticationOutcome)
    /// A pending change of self-destruct was given up, because the app was left or locked.
    case selfDestructChangeCancelled
    /// A wipe began.
    case wipeBegan
    /// The wipe ended.
    case wiped
}
