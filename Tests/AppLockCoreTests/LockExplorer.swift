import AppLockCore
import VaultHeader
import VaultFormat

/// One thing that can happen in the explored world.
enum Step: Hashable, CustomStringConvertible {
    /// The machine is told.
    case event(LockMachine.Event)
    /// The running prompt is answered with a wrong secret; what that means the ledger says.
    case wrongSecret
    /// The prompt answers although it was cancelled.
    case late(AuthenticationOutcome)
    /// Seconds go by and nobody tells the machine.
    case pass(UInt64)
    /// The clock is that of another boot.
    case reboot
    /// The clock jumps back to where the exploration began.
    case clockGoesBack

    var description: String {
        switch self {
        case .event(let event): "\(event)"
        case .wrongSecret: "wrong secret"
        case .late(let outcome): "late \(outcome)"
        case .pass(let seconds): "\(seconds) s go by"
        case .reboot: "reboot"
        case .clockGoesBack: "clock goes back"
        }
    }
}

/// The machine together with everything around it: what a shell has done so far, and a ledger that counts but does
/// not refuse, so that whatever keeps guesses within the limit is the machine.
struct World: Hashable {
    struct Prompt: Hashable {
        enum Purpose { case unlock, settings }
        let number: UInt64
        let purpose: Purpose
        let isCounted: Bool
    }

    /// Why the owner does not see the app.
    struct Away: OptionSet, Hashable {
        let rawValue: UInt8
        static let inactive = Away(rawValue: 1)
        static let background = Away(rawValue: 2)
        static let systemLock = Away(rawValue: 4)
        static let otherUser = Away(rawValue: 8)
        static let sleep = Away(rawValue: 16)
    }

    enum Ending: Hashable { case none, wiping, wiped }

    /// The ledger's limit.
    static let limit: UInt8 = 2

    let selfDestruct: Bool
    var machine: LockMachine
    // Time.
    var now: UInt64 = 100
    var boot: UInt8 = 1
    // What the shell did.
    var hasKeys = false
    var isCovered: Bool
    var lockScreens = 0
    var prompt: Prompt?
    var latePrompt: Prompt?
    var timer: BootInstant?
    var hasPendingChange = false
    var ending = Ending.none
    // What the owner knows.
    var away: Away = []
    var awaySince: UInt64?
    var openedAt: UInt64 = 0
    var openedInBoot: UInt8 = 1
    var wasPrompted = false
    // The ledger.
    var wrongSecrets: UInt8 = 0
    var delayedUntil: UInt64?
    var isDelayOnDisk = false

    init(_ settings: LockSettings, selfDestruct: Bool) {
        self.selfDestruct = selfDestruct
        machine = LockMachine(settings: settings)
        isCovered = machine.isCovered
    }

    /// The cheap part of a world tells most of them apart; equality looks at all of it.
    func hash(into hasher: inout Hasher) {
        hasher.combine(now)
        hasher.combine(boot)
        hasher.combine(away.rawValue)
        hasher.combine(wrongSecrets)
        hasher.combine(prompt?.number)
        hasher.combine(latePrompt?.number)
        hasher.combine(awaySince)
        hasher.combine(openedAt)
        hasher.combine(delayedUntil)
        hasher.combine(timer?.milliseconds)
        let flags = [
            hasKeys, isCovered, hasPendingChange, wasPrompted, machine.isShut, machine.settings.isEnabled,
            ending == .none, ending == .wiped,
        ]
        hasher.combine(flags.reduce(0 as UInt8) { $0 << 1 | ($1 ? 1 : 0) })
    }

    static let boots: [[UInt8]] = [[], [1], [2]]

    var instant: BootInstant { BootInstant(bootID: World.boots[Int(boot)], milliseconds: now * 1000) }

    /// Whether a counted attempt has to wait, as far as this boot's clock can tell.
    var isDelayed: Bool { delayedUntil.map { now < $0 } ?? false }

    static let lifecycle: [LockMachine.Event] = [
        .system(.launch), .system(.willResignActive), .system(.didBecomeActive), .system(.didEnterBackground),
        .system(.willEnterForeground), .system(.minimised),
        .system(.systemLocked), .system(.systemUnlocked), .system(.userSwitchedAway), .system(.userSwitchedBack),
        .system(.suspended), .system(.resumed), .system(.lidClosed),
        .authenticate, .authenticateUncounted, .timeout, .system(.idleTimeout), .forceLock, .panic, .forceUnlock,
        .keysGone,
        .selfDestructChangeBegan, .selfDestructChangeEnded, .wipeBegan, .wipeFinished,
    ]

    static let outcomes: [AuthenticationOutcome] = [
        .unlocked(by: .passcode), .biometricFailed, .delayed(.milliseconds(10_000)), .cancelled, .unavailable,
        .systemLockout, .hardwareBusy, .retry,
    ]

    /// Everything that can happen next.
    var steps: [Step] {
        var steps = World.lifecycle.map { Step.event($0) }
        var other = machine.settings
        other.isEnabled.toggle()
        steps += [.event(.settingsRequested(other)), .event(.settingsChanged(other))]
        if prompt != nil { steps.append(.wrongSecret) }
        for number in Set([prompt?.number ?? 0, 0]) {  // 0 is no prompt's number
            steps += World.outcomes.map { .event(.authenticationEnded(number, $0)) }
        }
        if latePrompt != nil {
            steps += [.late(.unlocked(by: .biometrics)), .late(.wrongSecret(retryAfter: .zero, remaining: 1))]
            steps += [.late(.cancelled)]
        }
        if now < 120 { steps.append(.pass(10)) }
        if boot == 1 { steps.append(.reboot) }
        if now > 100 { steps.append(.clockGoesBack) }
        return steps
    }
}

/// Walks every world that can be reached in a number of steps, nearest first.
struct LockExplorer {
    private(set) var states = 0
    private(set) var transitions = 0
    private(set) var depth = 0
    /// The broken invariant and the steps that lead to it.
    private(set) var failure: String?

    init(from start: World, depth limit: Int) {
        var seen: Set<World> = [start]
        var trail: [(parent: Int, step: Step)] = [(-1, .pass(0))]
        var frontier: [(world: World, index: Int)] = [(start, 0)]
        while depth < limit, !frontier.isEmpty {
            depth += 1
            var next: [(world: World, index: Int)] = []
            for (world, index) in frontier {
                for step in world.steps {
                    var after = world
                    transitions += 1
                    if let broken = after.take(step) {
                        var path = [step]
                        var at = index
                        while at > 0 {
                            path.append(trail[at].step)
                            at = trail[at].parent
                        }
                        failure = "\(broken), after: " + path.reversed().map(\.description).joined(separator: "; ")
                        states = seen.count
                        return
                    }
                    if seen.insert(after).inserted {
                        next.append((after, trail.count))
                        trail.append((index, step))
                    }
                }
            }
            frontier = next
        }
        states = seen.count
    }
}
