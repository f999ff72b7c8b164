extension LockMachine {
    /// What happens to the lock: what the system tells (``LockEvent``), and what the lock tells itself.
    package enum Event: Sendable, Hashable {
        /// The system, or the app's screen, told the app.
        case system(LockEvent)

        // The owner and the app.

        /// The owner asks for the prompt (the retry button).
        case authenticate
        /// The owner asks with a factor whose attempts are not counted (the recovery phrase): no delay stands in its way.
        case authenticateUncounted
        /// The prompt with this number ended. A number other than the running prompt's is a late callback.
        case authenticationEnded(UInt64, AuthenticationOutcome)
        /// The timer that an effect asked for went off, early or late.
        case timeout
        /// Shut now, whatever the timing.
        case forceLock
        /// Shut now, in an emergency. Nothing is destroyed.
        case panic
        /// Show content again without a prompt, where the lock is still open. It never opens one that is shut.
        case forceUnlock
        /// The keys went out of memory past the lock.
        case keysGone

        // Settings.

        /// The owner wants these settings; a prompt made for it decides.
        case settingsRequested(LockSettings)
        /// The authenticated header has these settings.
        case settingsChanged(LockSettings)

        // A change of self-destruct, whose authentications and countdown run elsewhere.

        /// One is pending.
        case selfDestructChangeBegan
        /// It was made, or given up.
        case selfDestructChangeEnded

        // The end.

        /// A wipe began, or goes on after a restart.
        case wipeBegan
        /// Nothing is left.
        case wipeFinished
    }
}
