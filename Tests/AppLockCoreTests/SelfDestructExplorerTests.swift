import AppLockCore
import Foundation
import TestSupport
import Testing
import VaultHeader

/// Walks every order of events and waits to a depth, beside a model of what the owner has done so far.
@Suite struct SelfDestructExplorerTests {
    /// A move: an event, or the clock.
    enum Move: Hashable, CaseIterable {
        case requestEnable, requestDisable, authenticated, late, early, refused, refusedLate, confirm, cancel, leave,
            tick
        case waitSecond, waitAlmost, waitCountdown, waitLong, back, reboot
    }

    struct World {
        var machine = SelfDestruct(countdown: 30_000)
        var now = BootInstant(bootID: [1], milliseconds: 10_000_000)
        var model = Model()
        var lastPrompt: UInt64 = 0
    }

    /// What happened since the last request; times are relative so that equal situations are met once.
    struct Model: Hashable {
        var wanted: SelfDestruct.Change?
        var hasAuthenticated = false
        var hasConfirmed = false
        /// Milliseconds since the confirmation, by a clock that never went wrong.
        var sinceConfirmed: UInt64 = 0
        var waitedFullyBeforeLastPrompt = false
        var isCancelled = false
        var isClockWrong = false
        /// Milliseconds since the state was entered and since the last event.
        var sinceEntered: Int64 = 0
        var sinceLatest: Int64 = 0
        var isOtherBoot = false
    }

    /// A situation without absolute times and prompt numbers.
    struct Key: Hashable {
        let kind: Int
        let pending: SelfDestruct.Change?
        let model: Model
    }

    static func kind(_ state: SelfDestruct.State) -> (Int, UInt64?) {
        switch state {
        case .idle: (0, nil)
        case .authenticating(_, let prompt): (1, prompt)
        case .confirming: (2, nil)
        case .counting: (3, nil)
        case .authenticatingAgain(_, let prompt): (4, prompt)
        }
    }

    static func key(_ world: World) -> Key {
        var model = world.model
        if world.machine.state == .idle { model = Model() }
        // Longer makes no difference any more.
        model.sinceConfirmed = min(model.sinceConfirmed, 30_000)
        model.sinceLatest = min(model.sinceLatest, 20)
        model.sinceEntered = min(model.sinceEntered, 700_000)
        return Key(kind: kind(world.machine.state).0, pending: world.machine.pending, model: model)
    }

    /// Moves the clock: the machine is not told.
    static func pass(_ world: inout World, _ milliseconds: Int64, reboot: Bool = false) {
        world.now = BootInstant(
            bootID: reboot ? world.now.bootID.map { $0 &+ 1 } : world.now.bootID,
            milliseconds: UInt64(Int64(world.now.milliseconds) + milliseconds))
        world.model.sinceEntered += milliseconds
        world.model.sinceLatest += milliseconds
        world.model.isOtherBoot = world.model.isOtherBoot || reboot
        if milliseconds > 0 { world.model.sinceConfirmed += UInt64(milliseconds) }
    }

    static let waits: [Move: Int64] = [
        .waitSecond: 1_000, .waitAlmost: 29_999, .waitCountdown: 30_000, .waitLong: 600_001, .back: -1,
    ]

    /// Plays a move; returns the broken invariant, if any.
    static func play(_ world: inout World, _ move: Move) -> String? {
        if let wait = waits[move] {
            pass(&world, wait)
            return nil
        }
        if move == .reboot {
            pass(&world, 0, reboot: true)
            return nil
        }
        let (_, prompt) = kind(world.machine.state)
        let event: SelfDestruct.Event =
            switch move {
            case .requestEnable: .request(.enable)
            case .requestDisable: .request(.disable)
            case .authenticated: .authenticated(prompt ?? 1)
            case .late: .authenticated((prompt ?? 1) &- 1)
            case .early: .authenticated((prompt ?? 1) + 1)
            case .refused: .refused(prompt ?? 1)
            case .refusedLate: .refused((prompt ?? 1) &- 1)
            case .confirm: .confirm
            case .cancel: .cancel
            case .leave: .leave
            default: .tick
            }
        let before = world.machine
        let isWrong = before.state != .idle && (world.model.isOtherBoot || world.model.sinceLatest < 0)
        if before.state != .idle, isWrong { world.model.isClockWrong = true }
        if event == .cancel || event == .leave { world.model.isCancelled = true }
        let effects = world.machine.handle(event, at: world.now)
        let after = world.machine.state

        var authenticates = 0
        for effect in effects {
            switch effect {
            case .authenticate(let number):
                authenticates += 1
                guard number > world.lastPrompt else { return "a prompt's number comes again" }
                world.lastPrompt = number
                guard kind(after).1 == number else { return "a prompt that is not waited for" }
                if case .authenticating(let change, _) = after {
                    guard before.state == .idle else { return "a second request took the first one's place" }
                    world.model = Model()
                    world.model.wanted = change
                } else {
                    world.model.waitedFullyBeforeLastPrompt =
                        world.model.hasConfirmed && world.model.sinceConfirmed >= 30_000
                }
            case .askConfirmation: world.model.hasAuthenticated = move == .authenticated
            case .startCountdown(let until):
                guard until.milliseconds == world.now.milliseconds + 30_000 else {
                    return "a countdown of another length"
                }
                world.model.hasConfirmed = move == .confirm
                world.model.sinceConfirmed = 0
            case .apply(let change):
                let model = world.model
                guard model.wanted == change else { return "another change than was asked for" }
                guard model.hasAuthenticated, move == .authenticated else {
                    return "applied without two authentications"
                }
                guard model.hasConfirmed else { return "applied without confirmation" }
                guard model.waitedFullyBeforeLastPrompt else { return "applied before the countdown was over" }
                guard !model.isCancelled else { return "applied after a cancel" }
                guard !model.isClockWrong else { return "applied over a restart or a clock that went back" }
                guard model.sinceEntered <= 600_000 else { return "applied long after it was asked" }
                guard after == .idle else { return "applied and still pending" }
            case .end: guard after == .idle else { return "ended and still pending" }
            }
        }
        if authenticates > 1 { return "two prompts at once" }
        if world.model.isCancelled && after != .idle { return "pending after a cancel" }
        if move == .refused, prompt != nil, after != .idle { return "a refusal that ends nothing" }
        if isWrong && after != .idle { return "pending over a restart or a clock that went back" }
        if before.state != .idle, after == .idle {
            let isTold = effects.contains {
                if case .end = $0 { true } else if case .apply = $0 { true } else { false }
            }
            if !isTold { return "ended without a word" }
        }
        if let left = world.machine.remaining(at: world.now), left > 30_000 { return "more left than there was" }
        if after != before.state { world.model.sinceEntered = 0 }
        world.model.sinceLatest = 0
        if after == .idle { world.model = Model() }
        return nil
    }

    @Test func noOrderOfEventsGoesAroundAuthenticationConfirmationAndCountdown() {
        let depth = TestRun.isSoak ? 14 : 10
        var seen: Set<Key> = []
        var layer = [(World(), [Move]())]
        var transitions = 0
        var applied = 0
        for _ in 0..<depth {
            var next: [(World, [Move])] = []
            for (world, path) in layer {
                for move in Move.allCases {
                    var moved = world
                    transitions += 1
                    if let broken = SelfDestructExplorerTests.play(&moved, move) {
                        Issue.record("\(broken): \(path + [move])")
                        return
                    }
                    if path.count > 4, world.machine.pending != nil, moved.machine.pending == nil,
                        move == .authenticated
                    {
                        applied += 1
                    }
                    if seen.insert(SelfDestructExplorerTests.key(moved)).inserted {
                        next.append((moved, path + [move]))
                    }
                }
            }
            layer = next
        }
        print("self-destruct explorer: depth \(depth), \(seen.count) states, \(transitions) transitions")
        #expect(applied > 0, "no order of events applies anything")
        #expect(seen.count > 100)
    }

    @Test func theCountdownIsNeverShorterThanHalfAMinuteNorLongerThanADay() {
        #expect(SelfDestruct(countdown: 0).countdown == 30_000)
        #expect(SelfDestruct(countdown: .max).countdown == 86_400_000)
        #expect(SelfDestruct(countdown: 45_000).countdown == 45_000)
        #expect(SelfDestruct().countdown == 30_000)
    }
}
