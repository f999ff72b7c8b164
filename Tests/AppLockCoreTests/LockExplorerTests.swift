import AppLockCore
import Testing
import VaultCore
import VaultFormat

/// Walks every state the machine can reach in a number of steps, over all events and a few lengths of time, together
/// with a model of what the shell would have done: whether keys are in memory, how many lock screens are up.
@Suite struct LockExplorerTests {
    struct World: Hashable {
        var machine: LockMachine
        var now: UInt64 = 0
        var boot: UInt8 = 1
        var hasKeys = false
        var isCovered: Bool
        var lockScreens = 0
        var prompt: UInt64?
        var lateprompt: UInt64?

        init(_ timing: LockTiming) {
            machine = LockMachine(isEnabled: true, timing: timing)
            isCovered = machine.isCovered
        }
    }

    static func events(_ world: World) -> [(LockEvent, UInt64)] {
        var events: [(LockEvent, UInt64)] = [
            (.launch, 0), (.willResignActive, 0), (.didBecomeActive, 0), (.didBecomeActive, 20),
            (.didEnterBackground, 0), (.willEnterForeground, 0), (.willEnterForeground, 20), (.authenticate, 0),
            (.authenticateUncounted, 0),
            (.timeout, 0), (.timeout, 20), (.forceLock, 0),
            (.settingsChanged(isEnabled: false, timing: .after(seconds: 15)), 0),
            (.settingsChanged(isEnabled: true, timing: .after(seconds: 15)), 0),
        ]
        for number in Set([world.prompt, world.lateprompt].compactMap { $0 }) {
            for outcome in [
                AuthenticationOutcome.unlocked, .refused(retryAfterMilliseconds: 0),
                .refused(retryAfterMilliseconds: 10_000), .cancelled, .unavailable,
            ] { events.append((.authenticationEnded(number, outcome), 0)) }
        }
        return events
    }

    /// Plays an event and what a shell does with the effects; returns the broken invariant, if any.
    static func step(_ world: inout World, _ event: LockEvent, _ wait: UInt64) -> String? {
        world.now += wait
        let wasDisabled = world.machine.state == .disabled
        if case .authenticationEnded(let number, .unlocked) = event {
            // The prompt opened the vault before its callback came.
            if number == world.prompt || number == world.lateprompt { world.hasKeys = true }
        }
        if case .authenticationEnded(let number, _) = event {
            if number == world.prompt { world.prompt = nil }
            if number == world.lateprompt { world.lateprompt = nil }
        }
        let instant = BootInstant(bootID: [world.boot], milliseconds: 1_000_000 + world.now * 1000)
        for effect in world.machine.handle(event, at: instant) {
            switch effect {
            case .dropKeys: world.hasKeys = false
            case .showCover: world.isCovered = true
            case .hideCover: world.isCovered = false
            case .presentLockScreen: world.lockScreens += 1
            case .dismissLockScreen: world.lockScreens -= 1
            case .beginAuthentication(let number):
                if world.prompt != nil { return "two prompts" }
                world.prompt = number
            case .cancelAuthentication(let number):
                if world.prompt == number {
                    world.lateprompt = number
                    world.prompt = nil
                }
            case .startTimer, .stopTimer: break
            }
        }
        let machine = world.machine
        if world.isCovered != machine.isCovered { return "cover and machine differ" }
        if world.lockScreens != (machine.isLockScreenShown ? 1 : 0) { return "lock screens: \(world.lockScreens)" }
        switch machine.state {
        case .locked, .delayed, .authenticating:
            if machine.isContentVisible { return "content visible while shut" }
            if world.hasKeys && world.prompt == nil { return "keys in memory while shut" }
        case .unlocked, .disabled: break
        }
        if case .authenticationEnded(_, let outcome) = event, outcome != .unlocked, case .unlocked = machine.state,
            !wasDisabled, !world.hasKeys
        {
            return "unlocked by \(outcome)"
        }
        if case .authenticating(let number) = machine.state, world.prompt != number { return "prompt lost" }
        return nil
    }

    @Test(arguments: [LockTiming.immediately, .after(seconds: 15), .never])
    func noOrderOfEventsBreaksAnInvariant(timing: LockTiming) {
        var seen: Set<World> = [World(timing)]
        var frontier = Array(seen)
        let depth = 9
        for level in 1...depth {
            var next: [World] = []
            for world in frontier {
                for (event, wait) in Self.events(world) {
                    var after = world
                    if let broken = Self.step(&after, event, wait) {
                        Issue.record("\(broken) after \(event) from \(world)")
                        return
                    }
                    if seen.insert(after).inserted { next.append(after) }
                }
            }
            frontier = next
            if level == depth { print("lock explorer: \(seen.count) states to depth \(depth), timing \(timing)") }
        }
        #expect(seen.count > 500)
    }
}
