public import VaultHeader

/// The app lock as a value: events in, effects out, no clock and no disk. Unknown, late and doubled events leave it
/// shut.
///
/// Each event changes the state first; what can be seen (cover, lock screen, timer) is then derived from it, so that no
/// path through the machine can forget to hide something. `Docs/app-lock.md` 2 has its states.
package struct LockMachine: Sendable, Hashable {
    package typealias State = LockState

    /// The one prompt that runs, and what a success does.
    struct Prompt: Sendable, Hashable {
        enum Purpose: Sendable, Hashable {
            case unlock
            case settings(LockSettings)
        }

        let number: UInt64
        let purpose: Purpose
    }

    /// Why the app is not in front of its owner. Empty while it is.
    struct Absence: OptionSet, Sendable, Hashable {
        let rawValue: UInt8
        static let inactive = Absence(rawValue: 1)
        static let background = Absence(rawValue: 2)
        static let systemLocked = Absence(rawValue: 4)
        static let switchedAway = Absence(rawValue: 8)
        static let suspended = Absence(rawValue: 16)

        static let session: Absence = [.systemLocked, .switchedAway, .suspended]
    }

    /// What the lock is doing.
    package internal(set) var state: State
    /// Whether content is hidden. Always true while shut.
    package internal(set) var isCovered: Bool
    /// Whether the one lock screen is up.
    package internal(set) var isLockScreenShown = false
    /// Whether a change of self-destruct is pending. Leaving or locking the app ends one.
    package internal(set) var hasPendingSelfDestructChange = false
    /// The settings that hold.
    package internal(set) var settings: LockSettings

    var prompt: Prompt?
    var lastPrompt: UInt64 = 0
    /// Whether the automatic prompt was already shown since the app came to the front.
    var hasPrompted = false
    var absences: Absence = []
    /// When an unlocked app stopped being in front.
    var leftAt: BootInstant?
    /// What ``LockMachine/Event/forceUnlock`` did, until the app is interrupted again.
    var isCoverLifted = false
    /// What shut the lock last.
    var reason = LockReason.launch
    /// When the ledger allows the next counted attempt; kept while other events reach a closed lock.
    var delayedUntil: BootInstant?
    /// When the shell sends ``LockMachine/Event/timeout``.
    var timer: BootInstant?

    /// A machine before ``LockEvent/launch``: shut and covered where the lock is on.
    package init(settings: LockSettings) {
        self.settings = settings
        state = settings.isEnabled ? .locked(.launch) : .disabled
        isCovered = settings.isEnabled
    }

    /// Whether content may be looked at.
    package var isContentVisible: Bool { !isCovered }

    /// Whether content is withheld until the user authenticates.
    package var isShut: Bool {
        switch state {
        case .disabled, .unlocked: false
        case .locked, .authenticating, .delayed, .wiping, .wiped: true
        }
    }

    /// Handles one event and returns the effects, in order.
    package mutating func handle(_ event: Event, at now: BootInstant) -> [LockEffect] {
        var effects: [LockEffect]
        switch state {
        case .wiping, .wiped: effects = handleAtTheEnd(event)
        case .disabled, .locked, .authenticating, .delayed, .unlocked:
            // Whatever the event is, it brings the time.
            endDelay(now)
            effects = bringsOutcome(event) ? [] : lockIfExpired(now)
            effects += react(event, now)
        }
        effects += settle()
        return effects.enumerated()
            .sorted { ($0.element.order, $0.offset) < ($1.element.order, $1.offset) }
            .map(\.element)
    }

    private mutating func react(_ event: Event, _ now: BootInstant) -> [LockEffect] {
        switch event {
        case .system(let event): react(to: event, now)
        case .keysGone: lockIfOpen(.keysGone, now)
        case .forceLock: shut(.forced, now)
        case .panic: shut(.panic, now)
        case .forceUnlock: forcedOpen()
        case .authenticate: authenticate(now, isCounted: true)
        case .authenticateUncounted: authenticate(now, isCounted: false)
        case .authenticationEnded(let number, let outcome): ended(number, outcome, now)
        case .timeout: timedOut()
        case .settingsRequested(let settings): request(settings, now)
        case .settingsChanged(let settings): adopt(settings, now)
        case .selfDestructChangeBegan: holdSelfDestructChange()
        case .selfDestructChangeEnded: forgetSelfDestructChange()
        case .wipeBegan: end(in: .wiping) + [.record(.wipeBegan)]
        case .wipeFinished: end(in: .wiped) + [.record(.wiped), .terminate]
        }
    }

    private mutating func react(to event: LockEvent, _ now: BootInstant) -> [LockEffect] {
        switch event {
        case .launch: launched(now)
        case .willResignActive: interrupted()
        case .minimised: minimised(now)
        case .didEnterBackground: left([.background, .inactive], because: .background, locksAtOnce: false, now)
        case .systemLocked: left(.systemLocked, because: .systemLock, locksAtOnce: triggers(.systemLock), now)
        case .userSwitchedAway: left(.switchedAway, because: .userSwitch, locksAtOnce: triggers(.userSwitch), now)
        case .suspended: left(.suspended, because: .suspend, locksAtOnce: triggers(.suspend), now)
        case .willEnterForeground: returned(.background, now)
        case .didBecomeActive: returned([.inactive, .background], now)
        case .systemUnlocked: returned(.systemLocked, now)
        case .userSwitchedBack: returned(.switchedAway, now)
        case .resumed: returned(.suspended, now)
        case .lidClosed: triggers(.lidClosed) ? lockIfOpen(.lidClosed, now) : []
        case .idleTimeout: lockIfOpen(.idle, now)
        }
    }

    /// The end of a prompt looks at the time itself, once the prompt is gone.
    private func bringsOutcome(_ event: Event) -> Bool {
        if case .authenticationEnded = event { true } else { false }
    }

    private func triggers(_ trigger: LockTriggers) -> Bool { settings.triggers.contains(trigger) }
}

extension BootInstant {
    /// How long after an earlier instant this one is; nil when the two do not compare: another boot, or the wrong
    /// order.
    package func duration(since earlier: BootInstant) -> Duration? {
        milliseconds(since: earlier).map { .milliseconds($0) }
    }

    /// A later instant of the same boot, whole milliseconds later, rounded up; this one for a duration below zero.
    package func advanced(by duration: Duration) -> BootInstant {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return self }
        let (whole, isTooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1000)
        let part = UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        let (sum, isOver) = whole.addingReportingOverflow(part)
        return advanced(byMilliseconds: isTooLong || isOver ? .max : sum)
    }

    /// Milliseconds from an earlier instant; nil when the two do not compare: another boot, or the wrong order.
    package func milliseconds(since earlier: BootInstant) -> UInt64? {
        guard bootID == earlier.bootID, milliseconds >= earlier.milliseconds else { return nil }
        return milliseconds - earlier.milliseconds
    }

    /// A later instant of the same boot.
    package func advanced(byMilliseconds more: UInt64) -> BootInstant {
        BootInstant(
            bootID: bootID,
            milliseconds: milliseconds.addingReportingOverflow(more).overflow
                ? .max : milliseconds + more)
    }

    /// A later instant of the same boot.
    package func advanced(bySeconds seconds: UInt32) -> BootInstant { advanced(byMilliseconds: UInt64(seconds) * 1000) }
}

/// What the lock is doing.
public enum LockState: Sendable, Hashable {
    /// The lock is switched off; content is free to see.
    case disabled
    /// Shut; nothing runs.
    case locked(LockReason)
    /// Shut, and the prompt with this number is up.
    case authenticating(UInt64)
    /// Shut, and no counted attempt is taken until this instant.
    case delayed(until: BootInstant)
    /// Open since this instant.
    case unlocked(since: BootInstant)
    /// Shut for good: everything is being destroyed. Only ``wiped`` follows.
    case wiping
    /// Nothing is left. No event leaves this state.
    case wiped
}

extension LockMachine {
    /// What happens to the lock: what the system tells (``LockEvent``), and what the lock tells itself.
    package enum Event: Sendable, Hashable {
        /// The system, or the app's screen, told the app.
        case system(LockEvent)

        // The owner and the app.

        /// The owner asks for the prompt (the retry button).
        case authenticate
        /// The owner asks with a factor whose attempts are not counted (the recovery phrase): no delay stands in its
        /// way.
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

        /// A wipe began, or continues after a restart.
        case wipeBegan
        /// Nothing is left.
        case wipeFinished
    }
}
