import AppLockCore
import HoldfastAgent
import TestSupport
import Testing
import VaultCore
import VaultHeader
import VaultFormat

/// Walks long random orders of unlocks, locks, requests and clock jumps: whatever came before, the next unlock with the
/// right secret opens, and what was shut stays shut until then.
@Suite(.seeded) struct AgentLockExplorerTests {
    private struct World {
        var lock = AgentLock(limits: .standard)
        var now = BootInstant(bootID: [1], milliseconds: 1_000)
        /// An unlock that runs: its prompt, and whether the lock was shut since it began.
        var running: (prompt: UInt64?, isShut: Bool)?
        var isOpen = false
        var opened = 0
        var shutMeanwhile = 0
    }

    @Test func `a lock while an unlock runs does not keep the next one from opening`() {
        var world = World()
        let prompt = world.lock.beginUnlock(world.now)
        #expect(prompt != nil)
        world.lock.lock(world.now)
        #expect(world.lock.endUnlock(prompt, by: .passcode, opened: .standard, world.now) != nil)
        #expect(!world.lock.isUnlocked)
        let next = world.lock.beginUnlock(world.now)
        #expect(next != nil)
        #expect(world.lock.endUnlock(next, by: .passcode, opened: .standard, world.now) == nil)
        #expect(world.lock.isUnlocked)
    }

    @Test func `after whatever came before an unlock opens, and nothing else does`() {
        var random = SeededGenerator()
        var world = World()
        for _ in 0..<(TestRun.isSoak ? 2_000_000 : 60_000) { move(&world, &random) }
        #expect(world.opened > 100 && world.shutMeanwhile > 100, "the walk met nothing")
    }

    private func move(_ world: inout World, _ random: inout SeededGenerator) {
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1:
            guard world.running == nil else { return }
            if world.lock.checkTime(world.now) != nil { shut(&world) }
            let prompt = world.lock.beginUnlock(world.now)
            #expect((prompt != nil) == !world.isOpen, "an unlock of a shut lock begins a prompt")
            world.running = (prompt, false)
        case 2, 3: end(&world, isRight: Bool.random(using: &random), &random)
        case 4:
            world.lock.lock(world.now)
            shut(&world)
        case 5:
            let events: [(LockEvent, LockEvent?)] = [
                (.systemLocked, .systemUnlocked), (.userSwitchedAway, .userSwitchedBack), (.suspended, .resumed),
                (.lidClosed, nil),
            ]
            guard let (event, end) = events.randomElement(using: &random) else { return }
            world.lock.notice(event, end, world.now)
            shut(&world)
        case 6, 7: if world.lock.visit(world.now) != nil { shut(&world) }
        case 8: if world.lock.checkTime(world.now) != nil { shut(&world) }
        default:
            let jump = [1, 1_000, 16 * 60_000, 13 * 3_600_000].randomElement(using: &random) ?? 1
            world.now = BootInstant(
                bootID: Bool.random(using: &random) ? world.now.bootID : [.random(in: 1...2, using: &random)],
                milliseconds: world.now.milliseconds + UInt64(jump))
        }
        #expect(world.lock.isUnlocked == world.isOpen)
    }

    private func shut(_ world: inout World) {
        world.isOpen = false
        world.running?.isShut = true
    }

    private func end(_ world: inout World, isRight: Bool, _ random: inout SeededGenerator) {
        // The time may have come without anybody looking.
        let isChecked = Bool.random(using: &random)
        if isChecked, world.lock.checkTime(world.now) != nil { shut(&world) }
        guard let running = world.running else { return }
        world.running = nil
        let wasOpen = world.isOpen
        let reason = world.lock.endUnlock(
            running.prompt, by: .passcode, opened: isRight ? .standard : nil, world.now)
        if reason != nil, !isChecked {
            #expect(!world.lock.isUnlocked)
            world.isOpen = false
        } else if isRight, !running.isShut {
            #expect(reason == nil, "a right secret opens: \(String(describing: reason))")
            world.isOpen = true
            world.opened += 1
        } else if isRight {
            #expect(reason != nil && !world.lock.isUnlocked, "what was shut meanwhile is shut again")
            world.isOpen = false
            world.shutMeanwhile += 1
        } else if reason != nil {
            world.isOpen = false
        } else {
            #expect(world.lock.isUnlocked == wasOpen, "a wrong secret changes nothing")
        }
    }
}
