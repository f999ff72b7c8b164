extension LockMachine {
    /// What happens to the lock: what the system tells (``LockEvent``), and what the lock tells itself.
    package enum Event: Sendable, Hashable {
        // The app's life.

        /// The process started.
        case launch
        /// About to be interrupted: content must be covered before the system takes its picture.
        case willResignActive
        /// In front and usable again.
        case didBecomeActive
        /// Out of sight.
        case didEnterBackground
        /// About to come back.
        case willEnterForeground
        /// The window was minimised.
        case minimised

        // The device.

        /// The device or the session was locked.
        case systemLocked
        /// The device or the session was unlocked. That opens nothing here.
        case systemUnlocked
        /// Another user of the machine came to the front.
        case userSwitchedAway
        /// This user is in front again.
        case userSwitchedBack
        /// The machine goes to sleep.
        case suspended
        /// The machine woke up.
        case resumed
        /// The lid was closed.
        case lidClosed

        // The owner and the app.

        /// The owner asks for the prompt (the retry button).
        case authenticate
        /// The owner asks with a factor whose attempts are not counted (the recovery phrase): no delay stands in its way.
        case authenticateUncounted
        /// The prompt with this number ended. A number other than the running prompt's is a late callback.
        case authenticationEnded(UInt64, AuthenticationOutcome)
        /// The timer that an effect asked for went off, early or late.
        case timeout
        /// Nobody used the app for as long as it allows.
        case idleTimeout
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

extension LockMachine.Event {
    /// What the system told the app.
    package init(_ event: LockEvent) {
        self =
            switch event {
            case .launch: .launch
            case .willResignActive: .willResignActive
            case .didBecomeActive: .didBecomeActive
            case .didEnterBackground: .didEnterBackground
            case .willEnterForeground: .willEnterForeground
            case .minimised: .minimised
            case .systemLocked: .systemLocked
            case .systemUnlocked: .systemUnlocked
            case .userSwitchedAway: .userSwitchedAway
            case .userSwitchedBack: .userSwitchedBack
            case .suspended: .suspended
            case .resumed: .resumed
            case .lidClosed: .lidClosed
            case .idleTimeout: .idleTimeout
            }
    }
}
