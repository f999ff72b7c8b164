import AgentMessages
import HoldfastAgent
import Items
import TestSupport
import Testing
import VaultHeader

/// Walks long random orders of uses, answers, waits, locks and clock jumps, beside a model that only remembers what the
/// user said.
@Suite(.seeded) struct LeaseExplorerTests {
    /// What the user allowed, as it was said.
    struct Said {
        let asker: LeaseAsker
        let target: LeaseTarget
        let at: BootInstant
        let milliseconds: UInt64?
    }

    struct World {
        var book = LeaseBook()
        var now = BootInstant(bootID: [1], milliseconds: 1_000_000)
        var said: [Said] = []
        var refused: [(LeaseAsker, LeaseTarget, BootInstant)] = []
        var allowed = 0
        var asked = 0
    }

    private static let askers: [LeaseAsker] = [
        LeaseBookTests.client(), LeaseBookTests.client(101), LeaseBookTests.client(100, start: 8),
        LeaseBookTests.client(100, inode: 4), .process(ProcessName(process: 100, start: 7)), .gone,
    ]
    private static let rules: [AskRule] = [.never, .untilLock, .minutes(1), .minutes(2), .eachTime]
    private static let tags = [[], ["work"], ["work", "home"], ["home"]]

    @Test func `nothing is allowed that the user did not allow to this client, for this thing, at this time`() {
        var random = SeededGenerator()
        var world = World()
        for step in 0..<(TestRun.isSoak ? 2_000_000 : 60_000) {
            move(&world, &random)
            if world.said.count > 200 { world.said.removeFirst(100) }
            if world.refused.count > 200 { world.refused.removeFirst(100) }
            guard step % 500 == 0 else { continue }
            lock(&world)
        }
        #expect(world.allowed > 100 && world.asked > 100, "the walk met nothing")
    }

    private func lock(_ world: inout World) {
        world.book.end()
        world.said = []
        world.refused = []
    }

    private func move(_ world: inout World, _ random: inout SeededGenerator) {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<70: use(&world, &random)
        case 70..<90: pass(&world, Int64.random(in: 0...40_000, using: &random))
        case 90..<92: pass(&world, -Int64.random(in: 1...100_000, using: &random))
        case 92: world.now = BootInstant(bootID: [.random(in: 1...3, using: &random)], milliseconds: 1_000_000)
        case 93: lock(&world)
        case 94..<97:
            let numbers = world.book.leases.map(\.number)
            guard let number = numbers.randomElement(using: &random) else { return }
            let lease = world.book.leases.first { $0.number == number }
            _ = world.book.revoke(number, world.now)
            world.said.removeAll { said in
                lease.map { said.asker == .client($0.client) && said.target == $0.target } ?? false
            }
        default: break
        }
    }

    private func pass(_ world: inout World, _ milliseconds: Int64) {
        world.now = BootInstant(
            bootID: world.now.bootID, milliseconds: UInt64(max(0, Int64(world.now.milliseconds) + milliseconds)))
    }

    private func use(_ world: inout World, _ random: inout SeededGenerator) {
        guard let asker = Self.askers.randomElement(using: &random),
            let rule = Self.rules.randomElement(using: &random), let tags = Self.tags.randomElement(using: &random)
        else { return }
        let isTag = Int.random(in: 0..<10, using: &random) == 0
        let request =
            isTag
            ? LeaseRequest(asker: asker, target: .tag("work"), rule: .untilLock)
            : LeaseBookTests.request(asker, ["mail", "other"].randomElement(using: &random) ?? "", rule, tags: tags)
        switch world.book.decide(request, world.now) {
        case .allow:
            world.allowed += 1
            #expect(isRight(request, world), "allowed: \(request)")
        case .refuse(.gone): #expect(asker == .gone && request.rule != .never)
        case .refuse(.refusedBefore):
            let isKnown = world.refused.contains {
                $0.0 == asker && $0.1 == request.target && $0.2.bootID == world.now.bootID
            }
            #expect(isKnown, "refused what nobody refused")
        case .ask(let term):
            world.asked += 1
            #expect(asker != .gone && request.rule != .never)
            var expected: LeaseTerm? = .once
            if case .client = asker { expected = LeaseTerm(request.rule) }
            #expect(term == expected, "asked for another time than the rule says")
            answer(request, term, &world, &random)
        }
    }

    private func answer(
        _ request: LeaseRequest, _ term: LeaseTerm, _ world: inout World, _ random: inout SeededGenerator
    ) {
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            world.book.refuse(request, world.now)
            world.refused.append((request.asker, request.target, world.now))
        case 1:
            world.book.allow(request, for: term, world.now)
            guard term != .once else { return }
            var milliseconds: UInt64?
            if case .seconds(let seconds) = term { milliseconds = UInt64(seconds) * 1000 }
            world.said.append(
                Said(asker: request.asker, target: request.target, at: world.now, milliseconds: milliseconds))
        default: world.book.allow(request, for: .once, world.now)
        }
    }

    /// Whether what was said allows it, read from the words of the documents and from nothing of the book.
    private func isRight(_ request: LeaseRequest, _ world: World) -> Bool {
        if request.rule == .never { return true }
        guard case .client = request.asker, request.rule != .eachTime else { return false }
        return world.said.contains { said in
            guard said.asker == request.asker, said.at.bootID == world.now.bootID,
                said.at.milliseconds <= world.now.milliseconds
            else { return false }
            let passed = world.now.milliseconds - said.at.milliseconds
            if let end = said.milliseconds, passed >= end { return false }
            if case .minutes(let minutes) = request.rule, passed >= UInt64(minutes) * 60_000 { return false }
            if case .tag(let tag) = said.target { return request.tags.contains(tag) }
            return said.target == request.target
        }
    }
}
