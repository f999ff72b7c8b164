import AppLockCore
import Foundation
import TestSupport
import Testing
import VaultFormat

/// Walks every state the machine can reach in a number of steps, over all events and outcomes.
@Suite struct LockExplorerTests {
    struct Start: CustomTestStringConvertible {
        let settings: LockSettings
        let selfDestruct: Bool
        var testDescription: String {
            let timing = settings.timing.seconds.map { "\($0) s" } ?? (settings.timing == .never ? "never" : "relaunch")
            let triggers = settings.triggers.rawValue
            return "\(settings.isEnabled ? "on" : "off"), \(timing), triggers \(triggers), wipes \(selfDestruct)"
        }
    }

    static let starts: [Start] = [
        Start(settings: LockSettings(isEnabled: true, timing: .after(seconds: 15)), selfDestruct: true),
        Start(settings: LockSettings(isEnabled: true, timing: .after(seconds: 15), triggers: []), selfDestruct: false),
        Start(settings: LockSettings(isEnabled: true, timing: .immediately, triggers: .minimised), selfDestruct: true),
        Start(settings: LockSettings(isEnabled: true, timing: .never), selfDestruct: false),
        Start(settings: LockSettings(isEnabled: false, timing: .after(seconds: 15)), selfDestruct: true),
    ]

    @Test(arguments: starts)
    func noOrderOfEventsBreaksAnInvariant(start: Start) {
        explore(start, "at launch", World(start.settings, selfDestruct: start.selfDestruct), TestRun.isSoak ? 8 : 5)
    }

    /// Three events deeper: from a lock that was launched, activated and opened.
    @Test(arguments: starts)
    func noOrderOfEventsBreaksAnOpenLock(start: Start) {
        var world = World(start.settings, selfDestruct: start.selfDestruct)
        let opening: [LockMachine.Event] = [
            .system(.launch), .system(.didBecomeActive), .authenticationEnded(1, .unlocked(by: .passcode)),
        ]
        for event in opening { #expect(world.take(.event(event)) == nil) }
        explore(start, "open", world, TestRun.isSoak ? 7 : 4)
    }

    private func explore(_ start: Start, _ place: String, _ world: World, _ depth: Int) {
        let explorer = LockExplorer(from: world, depth: depth)
        print(
            "lock explorer: \(explorer.states) states, \(explorer.transitions) transitions to depth \(explorer.depth)"
                + " \(place) (\(start.testDescription))")
        if let failure = explorer.failure { Issue.record("\(failure)") }
        #expect(explorer.depth == depth)
        #expect(explorer.states > 1000)
    }
}
