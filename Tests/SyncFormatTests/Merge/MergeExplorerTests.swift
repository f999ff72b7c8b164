import SyncFormat
import TestSupport
import Testing

/// Walks through every order in which devices change an item and take each other's changes.
@Suite(.seeded) struct MergeExplorerTests {
    /// Visits all worlds that a number of changes lead to.
    /// - Returns: How many worlds there are, and how many of them are at rest.
    private func explore(
        devices: Int, changes: Int, of kinds: [MergeWorld.Change]
    ) -> (worlds: Int, resting: Int) {
        var (seen, resting): (Set<MergeWorld>, Int) = ([], 0)
        var open = [MergeWorld(devices: devices)]
        while let world = open.popLast() {
            var steps = world.devices.indices.flatMap { world.takeable(by: $0) }
            if steps.isEmpty {
                resting += 1
                if let fault = world.disagreement {
                    Issue.record("\(fault): \(world)")
                    return (seen.count, resting)
                }
            }
            if world.changes < changes {
                for device in 0..<min(devices, world.used + 1) {
                    steps += kinds.filter { world.canChange($0, on: device) }.map { .change($0, on: device) }
                }
            }
            for step in steps {
                var next = world
                next.apply(step)
                if case .change = step { next.changes += 1 }
                if seen.insert(next).inserted { open.append(next) }
            }
        }
        return (seen.count, resting)
    }

    @Test func `two devices agree after every order of three changes of any kind`() {
        let found = explore(devices: 2, changes: 3, of: MergeWorld.Change.ofOneLife)
        #expect(found.worlds > 5_000 && found.resting > 1_000)
    }

    @Test func `three devices agree after every order of removals and edits`() {
        let found = explore(devices: 3, changes: 3, of: [.editFirst, .disallow, .remove, .drop])
        #expect(found.worlds > 5_000 && found.resting > 500)
    }

    @Test func `two devices agree after every order of changes in which one is put back`() {
        let found = explore(devices: 2, changes: 4, of: [.editFirst, .remove, .keep, .putBack])
        #expect(found.worlds > 5_000 && found.resting > 500)
    }

    @Test(.enabled(if: TestRun.isCheck, "SKIPPED: takes minutes, see make check"))
    func `three devices agree after every order of three changes of any kind`() {
        let found = explore(devices: 3, changes: 3, of: MergeWorld.Change.ofOneLife)
        #expect(found.worlds > 200_000 && found.resting > 5_000)
    }

    @Test(
        .enabled(if: TestRun.isCheck, "SKIPPED: takes minutes, see make check"),
        arguments: [
            [MergeWorld.Change.editFirst, .remove, .drop],
            [.editFirst, .editSecond, .snapshot, .expel],
            [.removeTag, .disallow, .trash, .remove],
        ])
    func `three devices agree after every order of four changes`(kinds: [MergeWorld.Change]) {
        let found = explore(devices: 3, changes: 4, of: kinds)
        #expect(found.worlds > 50_000 && found.resting > 1_000)
    }
}

/// Long random histories of up to five devices: more than can be walked through in every order.
@Suite(.seeded) struct MergeHistoryTests {
    private func history(_ random: inout SeededGenerator) -> (world: MergeWorld, states: [ItemState]) {
        var world = MergeWorld(devices: Int.random(in: 2...5, using: &random))
        var states: [ItemState] = []
        for _ in 0..<Int.random(in: 4...30, using: &random) {
            let device = Int.random(in: world.devices.indices, using: &random)
            let takeable = world.takeable(by: device)
            if let step = takeable.randomElement(using: &random), Bool.random(using: &random) {
                world.apply(step)
            } else {
                let change = MergeWorld.Change.allCases.randomElement(using: &random) ?? .editFirst
                if world.canChange(change, on: device) { world.apply(.change(change, on: device)) }
            }
            states.append(world.devices[device].state)
        }
        return (world, states)
    }

    /// All that is left is taken, in a random order.
    private func settle(_ world: inout MergeWorld, _ random: inout SeededGenerator) -> Bool {
        for _ in 0..<2_000 {
            let steps = world.devices.indices.flatMap { world.takeable(by: $0) }
            guard let step = steps.randomElement(using: &random) else { return true }
            world.apply(step)
        }
        return false
    }

    @Test func `devices agree after long random histories`() {
        var random = SeededGenerator(seed: TestRun.seed)
        var (lived, backs) = (0, 0)
        for _ in 0..<(TestExtent.isCheck ? 10_000 : 500) {
            var (world, _) = history(&random)
            guard settle(&world, &random) else {
                Issue.record("devices never come to rest: \(world)")
                return
            }
            if let fault = world.disagreement {
                Issue.record("\(fault): \(world)")
                return
            }
            if world.devices[0].state.lives { lived += 1 }
            if world.streams.count > world.devices.count { backs += 1 }
        }
        #expect(lived > 50 && backs > 50)
    }

    @Test func `a join is commutative, associative and idempotent`() {
        var random = SeededGenerator(seed: TestRun.seed)
        for _ in 0..<(TestExtent.isCheck ? 10_000 : 500) {
            let (_, states) = history(&random)
            guard let a = states.randomElement(using: &random), let b = states.randomElement(using: &random),
                let c = states.randomElement(using: &random)
            else { continue }
            #expect(a.joined(with: b) == b.joined(with: a))
            #expect(a.joined(with: b).joined(with: c) == a.joined(with: b.joined(with: c)))
            #expect(a.joined(with: a) == a)
            #expect(a.joined(with: b).joined(with: b) == a.joined(with: b))
        }
    }
}
