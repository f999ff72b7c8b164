package import VaultHeader

/// A change of self-destruct that is under way, as a value: events in, effects out, no clock and no disk.
///
/// Turning it on or off requires an authentication, a confirmation, the whole countdown, and another authentication.
/// Anything else ends the change with nothing changed: a cancel at any time, leaving, a refusal, waiting too long, a
/// restart of the machine or a clock that went back. It exists in memory only, so that an ended process changes nothing
/// either.
package struct SelfDestruct: Sendable, Hashable {
    package typealias Change = SelfDestructChange

    /// How far it is.
    package enum State: Sendable, Hashable {
        /// Nothing is pending.
        case idle
        /// The first authentication runs; a number other than the prompt's is a late callback.
        case authenticating(Change, prompt: UInt64)
        /// The user is asked to confirm.
        case confirming(Change)
        /// The countdown runs since this instant.
        case counting(Change, since: BootInstant)
        /// The countdown is over and the last authentication runs.
        case authenticatingAgain(Change, prompt: UInt64)
    }

    /// What happens to it.
    package enum Event: Sendable, Hashable {
        /// The owner moved the switch.
        case request(Change)
        /// The prompt with this number ended with success.
        case authenticated(UInt64)
        /// The prompt with this number ended in any other way.
        case refused(UInt64)
        /// The owner confirmed.
        case confirm
        /// The user cancelled.
        case cancel
        /// The app left the foreground, or the prompt was cancelled from it.
        case leave
        /// Time passed; sent by a timer, early or late.
        case tick
    }

    /// What the shell does.
    package enum Effect: Sendable, Hashable {
        /// Start the prompt with this number.
        case authenticate(UInt64)
        /// Ask the user to confirm.
        case askConfirmation(Change)
        /// Show the countdown and send ``Event/tick`` at this instant.
        case startCountdown(until: BootInstant)
        /// Write the change now.
        case apply(Change)
        /// The change is over and nothing was changed.
        case end(Ending)
    }

    /// Why a change came to nothing.
    package enum Ending: String, Sendable, Hashable, CaseIterable {
        /// The owner cancelled.
        case cancelled = "cancelled"
        /// The app was left.
        case left = "left"
        /// An authentication did not succeed.
        case refused = "refused"
        /// The owner took longer than ten minutes for a step.
        case expired = "expired"
        /// The machine was restarted, or its clock went back.
        case clock = "clock"
    }

    /// How far it is.
    package private(set) var state = State.idle
    /// Milliseconds between the confirmation and the last authentication.
    package private(set) var countdown: UInt64
    private var lastPrompt: UInt64 = 0
    /// When the state was entered, and the latest time seen in it.
    private var entered: BootInstant?
    private var latest: BootInstant?

    /// The shortest countdown, in milliseconds; also the usual one.
    package static let shortestCountdown: UInt64 = 30_000
    /// The longest, in milliseconds.
    package static let longestCountdown: UInt64 = 86_400_000
    /// Milliseconds that the owner has for each step.
    static let patience: UInt64 = 600_000

    /// - Parameter countdown: Milliseconds; brought between ``shortestCountdown`` and ``longestCountdown``.
    package init(countdown: UInt64 = shortestCountdown) {
        self.countdown = min(max(countdown, SelfDestruct.shortestCountdown), SelfDestruct.longestCountdown)
    }

    /// Makes the countdown longer where the vault's rules ask for that; while something is pending it stays.
    package mutating func lengthen(to milliseconds: UInt64) {
        guard state == .idle, milliseconds > countdown else { return }
        countdown = min(milliseconds, SelfDestruct.longestCountdown)
    }

    /// What is pending, if anything is.
    package var pending: Change? {
        switch state {
        case .idle: nil
        case .authenticating(let change, _), .confirming(let change), .counting(let change, _),
            .authenticatingAgain(let change, _):
            change
        }
    }

    /// Whether the countdown runs or is over, so that ending the change is worth a line in the log.
    package var isArmed: Bool {
        switch state {
        case .counting, .authenticatingAgain: true
        case .idle, .authenticating, .confirming: false
        }
    }

    /// Milliseconds left of the countdown; nil when none runs.
    package func remaining(at now: BootInstant) -> UInt64? {
        guard case .counting(_, let since) = state, let passed = now.milliseconds(since: since) else { return nil }
        return passed >= countdown ? 0 : countdown - passed
    }

    /// Handles one event and returns the effects, in order.
    package mutating func handle(_ event: Event, at now: BootInstant) -> [Effect] {
        if let ending = timeRunsOut(now) { return end(ending) }
        if state != .idle { latest = now }
        // Cancelling wins over a countdown that is over at the same moment.
        if pending != nil {
            if event == .cancel { return end(.cancelled) }
            if event == .leave { return end(.left) }
        }
        // The end of the countdown comes first: no event from before it answers the prompt that follows.
        let prompts = passTime(now)
        return prompts.isEmpty ? handle(event, now) : prompts
    }

    /// A wrong clock or too long a wait. Nothing that is idle can run out.
    private func timeRunsOut(_ now: BootInstant) -> Ending? {
        guard state != .idle, let entered, let latest else { return nil }
        guard now.milliseconds(since: latest) != nil, let waited = now.milliseconds(since: entered) else {
            return .clock
        }
        if case .counting = state { return waited > countdown + SelfDestruct.patience ? .expired : nil }
        return waited > SelfDestruct.patience ? .expired : nil
    }

    private mutating func passTime(_ now: BootInstant) -> [Effect] {
        guard case .counting(let change, _) = state, remaining(at: now) == 0 else { return [] }
        return [prompt(now) { .authenticatingAgain(change, prompt: $0) }]
    }

    private mutating func handle(_ event: Event, _ now: BootInstant) -> [Effect] {
        switch (event, state) {
        case (.request(let change), .idle):
            return [prompt(now) { .authenticating(change, prompt: $0) }]
        case (.authenticated(let number), .authenticating(let change, let prompt)) where number == prompt:
            enter(.confirming(change), now)
            return [.askConfirmation(change)]
        case (.confirm, .confirming(let change)):
            enter(.counting(change, since: now), now)
            let end = BootInstant(bootID: now.bootID, milliseconds: now.milliseconds &+ countdown)
            return [.startCountdown(until: end)]
        case (.authenticated(let number), .authenticatingAgain(let change, let prompt)) where number == prompt:
            leaveAll()
            return [.apply(change)]
        case (.refused(let number), .authenticating(_, let prompt)) where number == prompt,
            (.refused(let number), .authenticatingAgain(_, let prompt)) where number == prompt:
            return end(.refused)
        default:
            return []  // late, doubled or out of place
        }
    }

    private mutating func prompt(_ now: BootInstant, _ state: (UInt64) -> State) -> Effect {
        lastPrompt += 1
        enter(state(lastPrompt), now)
        return .authenticate(lastPrompt)
    }

    private mutating func enter(_ state: State, _ now: BootInstant) {
        self.state = state
        entered = now
        latest = now
    }

    private mutating func leaveAll() {
        state = .idle
        entered = nil
        latest = nil
    }

    private mutating func end(_ ending: Ending) -> [Effect] {
        leaveAll()
        return [.end(ending)]
    }
}

/// What is wanted of self-destruct.
public enum SelfDestructChange: String, Sendable, Hashable, CaseIterable {
    /// Wrong passcodes shall destroy the vault when they reach the limit.
    case enable = "enable"
    /// They shall not any more.
    case disable = "disable"
}
