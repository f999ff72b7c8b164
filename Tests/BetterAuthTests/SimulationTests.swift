import BetterAuth
import BetterAuthMessages
import BetterAuthServer
import Foundation
import Synchronization
import TestSupport
import Testing

/// Thousands of lives of a device on a network that drops, duplicates, delays and reorders, against the real server,
/// with either side killed at any point. In the end the network is whole again, and then the device must be able to
/// sign with a key that the server accepts.
@Suite(.seeded) struct SimulationTests {
    private static let runs: UInt64 = TestRun.isSoak ? 4000 : 60

    @Test(arguments: World.Memory.allCases)
    func noIdentityIsEverLost(_ memory: World.Memory) async throws {
        let base = TestRun.seed
        var all: World.Statistics = (0, 0, [:])
        try await withThrowingTaskGroup(of: World.Statistics.self) { group in
            for worker in 0..<2 as Range<UInt64> {
                group.addTask { try await SimulationTests.lives(from: base &+ worker, memory) }
            }
            for try await more in group { all = SimulationTests.sum(all, more) }
        }
        let notices = all.notices.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        print(
            "simulation \(memory): \(SimulationTests.runs) lives, \(all.deliveries) requests, \(all.faults) faults; "
                + notices)
        #expect(all.faults > 3 * Int(SimulationTests.runs) && all.notices["settled", default: 0] > 0)
    }

    private static func sum(_ left: World.Statistics, _ right: World.Statistics) -> World.Statistics {
        (
            left.deliveries + right.deliveries, left.faults + right.faults,
            left.notices.merging(right.notices, uniquingKeysWith: +)
        )
    }

    /// Every second life.
    private static func lives(from base: UInt64, _ memory: World.Memory) async throws -> World.Statistics {
        var all: World.Statistics = (0, 0, [:])
        for run in stride(from: 0, to: runs, by: 2) {
            all = sum(all, try await live(base &+ run, memory).statistics)
        }
        return all
    }

    /// One life.
    @discardableResult
    static func live(
        _ seed: UInt64, _ memory: World.Memory, keys: any DeviceKeys = SoftwareDeviceKeys()
    ) async throws -> World {
        let world = try World(seed: seed, memory: memory, deviceKeys: keys)
        var device = try SimulatedDevice(world)
        let recovery = try (0..<8).map { _ in try SoftwareSigningKey.generate() }
        world.setChaos(true)
        await attempt(&device) { _ = try await $0.createAccount(recovery: hash(recovery[0])) }
        var next = 1
        for _ in 0..<8 {
            switch world.pick(9) {
            case 0, 1, 2: await attempt(&device) { try await $0.rotate() }
            case 3 where next < recovery.count:
                let key = recovery[next]
                next += 1
                await attempt(&device) { try await $0.changeRecovery(to: hash(key)) }
            case 4: await attempt(&device) { _ = try await $0.openSession() }
            case 5: await attempt(&device) { _ = try await $0.refreshSession() }
            case 6, 7: try await linkAndUnlink(world, &device)
            default: await attempt(&device) { _ = try await $0.createAccount(recovery: hash(recovery[0])) }
            }
            if world.pick(3) == 0 { try device.restart() }
        }
        // What is still on its way arrives, and then the network is whole.
        world.setChaos(false)
        world.deliverLate(all: true)
        try device.restart()
        try await check(&device, recovery, "seed \(seed) \(memory)")
        return world
    }

    private static func hash(_ key: SoftwareSigningKey) -> RecoveryHash {
        Derivations.standard.recoveryHash(of: key.publicKey)
    }

    /// Whatever the outcome; a process that died is started again.
    private static func attempt(
        _ device: inout SimulatedDevice, _ body: (BetterAuthClient) async throws -> Void
    ) async {
        try? await body(device.client)
        if device.store.isDown { try? device.restart() }
    }

    private static func linkAndUnlink(_ world: World, _ device: inout SimulatedDevice) async throws {
        guard let identity = try device.credentials.account?.identity else { return }
        var second = try SimulatedDevice(world)
        var container: LinkContainer?
        await attempt(&second) { container = try await $0.makeLinkContainer(for: identity) }
        guard let container else { return }
        await attempt(&device) { _ = try await $0.link(container) }
        await attempt(&second) { _ = try await $0.openSession() }
        let linked = container.payload.authentication.device
        switch world.pick(3) {
        case 0: await attempt(&device) { try await $0.unlink(linked) }
        case 1: await attempt(&second) { try await $0.unlink(linked) }
        default: break
        }
    }

    /// The account that the device believes in is the server's, with its keys and its recovery hash.
    private static func check(
        _ device: inout SimulatedDevice, _ recovery: [SoftwareSigningKey], _ life: Comment
    ) async throws {
        do {
            // Two rounds at most: an unfinished operation may come to its end as refused, and then there is none.
            do { try await device.client.settle() } catch {}
            let credentials = try device.credentials
            #expect(credentials.pending == nil, life)
            if credentials.account == nil {
                // The creation never reached the server, or is still to be finished there.
                _ = try await device.client.createAccount(recovery: hash(recovery[0]))
            }
            #expect(try device.isKnown(to: device.world), life)
            _ = try await device.client.openSession()
            try await device.client.rotate()
            _ = try await device.client.refreshSession()
            _ = try await device.client.openSession()
            let account = try #require(try device.credentials.account, life)
            let row = try #require(try device.world.store.account(account.identity), life)
            let held = try #require(row.recoveryHash, life)
            #expect(account.recoveryHashes.contains(held), life)
            #expect(device.world.isQuiet, life)
        } catch {
            Issue.record(error, life)
        }
    }
}
