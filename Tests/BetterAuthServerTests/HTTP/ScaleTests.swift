import BetterAuthMessages
import BetterAuthServer
import Dispatch
import Foundation
import RealParts
import SeededNumbers
import Synchronization
import TestSupport
import Testing

/// Several processes of the built server on one PostgreSQL and one Redis, killed again and again, with both databases
/// restarted in between: what was acknowledged stays, and of two that want the same one gets it.
@Suite(.seeded, .patient) struct ScaleTests {
    @Test(arguments: TestRun.isSoak ? [2, 4] : [2])
    func `processes are killed, databases restart, and nothing acknowledged is lost`(_ count: Int) throws {
        let place = try ScalePlace(processes: count)
        let lives = (0..<4).map { _ in ScaleLife(place) }
        var generator = SeededGenerator()
        let begin = ContinuousClock.now
        var (rounds, restarts) = (0, 0)
        // Ten minutes for each number of processes where it soaks.
        while TestRun.isSoak ? ContinuousClock.now - begin < .seconds(600) : rounds < 4 {
            ScaleLife.wait(lives, more: TestRun.isSoak ? 400 : 20)
            try place.replace(Int.random(in: 0..<count, using: &generator))
            rounds += 1
            if rounds % 2 == 0 {
                ScaleLife.wait(lives, more: 10)
                try rounds % 4 == 0 ? place.pair.redis.restart(SIGKILL) : place.pair.postgres.restart(SIGKILL)
                restarts += 1
            }
        }
        ScaleLife.wait(lives, more: 20)
        for life in lives { life.end() }
        var (done, again) = (0, 0)
        for life in lives {
            #expect(life.problems == [])
            (done, again) = (done + life.done, again + life.again)
            for (device, isDeleted) in life.devices { try place.check(device, isDeleted) }
        }
        #expect(done > 0 && again > 0)
        let seconds = (ContinuousClock.now - begin).components.seconds
        print(
            "scale: \(count) processes, \(rounds) kills, \(restarts) restarts, \(done) done, \(again) sent again, \(seconds) s"
        )
    }
}

/// The databases, and the processes as their addresses are now.
private final class ScalePlace: @unchecked Sendable {  // the test's own thread alone has the processes
    let pair: DatabasePair
    private let folder: ScratchFolder
    private var processes: [ServerProcess] = []
    private let addresses = Mutex<[String]>([])

    init(processes count: Int) throws {
        pair = try DatabasePair()
        folder = try ScratchFolder("scale")
        for _ in 0..<count {
            let process = try start()
            processes.append(process)
            addresses.withLock { $0.append(process.address) }
        }
    }

    private func start() throws -> ServerProcess {
        try ServerProcess(
            [
                "serve", "--listen", "127.0.0.1:0", "--database", pair.postgres.url, "--redis", pair.redis.location,
                "--keys-file", folder["keys"], "--address-rate", "0", "--creation-rate", "0",
            ], folder: folder.path)
    }

    /// Kills one process, and starts another in its place.
    func replace(_ index: Int) throws {
        processes[index].process.end(SIGKILL)
        processes[index] = try start()
        let address = processes[index].address
        addresses.withLock { $0[index] = address }
    }

    /// Asks one process.
    func post(_ path: String, _ bytes: [UInt8], at index: Int) throws -> HTTPClient.Reply {
        let address = addresses.withLock { $0[index % $0.count] }
        return try HTTPClient(address).post(path, bytes)
    }

    /// The same bytes at one process after the other, until one says what came of them.
    func post(_ path: String, _ bytes: [UInt8], from index: Int, _ retried: () -> Void) -> HTTPClient.Reply? {
        var reply: HTTPClient.Reply?
        var next = index
        _ = Patience.wait {
            reply = try? post(path, bytes, at: next)
            next += 1
            if reply == nil || reply?.status == 503 { retried() }
            return reply.map { $0.status != 503 } ?? false
        }
        return reply
    }

    /// What was acknowledged to a device holds.
    func check(_ device: TestDevice, _ isDeleted: Bool) throws {
        let reply = post("/device/rotate", try device.rotation().0.bytes, from: 0) {}
        guard let reply, isDeleted ? reply.text.contains("BA103") : reply.status == 200 else {
            throw HTTPClient.Problem(
                description: "\(isDeleted ? "a deleted" : "an") account is lost: \(reply?.text ?? "no answer")")
        }
    }
}

/// A client that makes accounts, rotates, has two rotations race, and deletes.
private final class ScaleLife: Sendable {
    private struct State {
        var isEnding = false
        var (done, again) = (0, 0)
        var problems: [String] = []
        var devices: [(TestDevice, isDeleted: Bool)] = []
    }

    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)
    private let place: ScalePlace

    init(_ place: ScalePlace) {
        self.place = place
        Thread.detachNewThread { [self] in
            while !state.withLock({ $0.isEnding || !$0.problems.isEmpty }) {
                do { try live() } catch { state.withLock { $0.problems.append("\(error)") } }
            }
            ended.signal()
        }
    }

    var done: Int { state.withLock { $0.done } }
    var again: Int { state.withLock { $0.again } }
    var problems: [String] { state.withLock { $0.problems } }
    var devices: [(TestDevice, isDeleted: Bool)] { state.withLock { $0.devices } }

    func end() {
        state.withLock { $0.isEnding = true }
        ended.wait()
    }

    /// Returns when so many more requests were answered, or one client has found something.
    static func wait(_ lives: [ScaleLife], more: Int) {
        let before = lives.map(\.done).reduce(0, +)
        _ = Patience.wait {
            lives.map(\.done).reduce(0, +) >= before + more || lives.contains { !$0.problems.isEmpty }
        }
    }

    private func post(_ path: String, _ bytes: [UInt8]) throws -> HTTPClient.Reply {
        let reply = place.post(path, bytes, from: Int.random(in: 0..<64)) { state.withLock { $0.again += 1 } }
        guard let reply else { throw HTTPClient.Problem(description: "\(path) is never answered") }
        state.withLock { $0.done += 1 }
        return reply
    }

    private func expect(_ reply: HTTPClient.Reply, _ what: String) throws {
        guard reply.status != 200 else { return }
        throw HTTPClient.Problem(description: "\(what): \(reply.status) \(reply.text)")
    }

    private func live() throws {
        let hash = RecoveryHash(try freshDigest())
        var device = try TestDevice(recovery: hash)
        try expect(post("/account/create", device.creation(hash).bytes), "a new account")
        for _ in 0..<3 {
            let (message, next) = try device.rotation()
            try expect(post("/device/rotate", message.bytes), "a rotation")
            device = next
        }
        device = try race(device)
        let isDeleted = Bool.random()
        if isDeleted { try expect(post("/account/delete", device.deletion().bytes), "a deletion") }
        // Keys lie in locked memory: the eldest go, and are looked at before.
        let eldest = state.withLock { state in
            state.devices.append((device, isDeleted))
            return state.devices.count > 64 ? state.devices.removeFirst() : nil
        }
        if let eldest { try place.check(eldest.0, eldest.isDeleted) }
    }

    /// Two rotations of one device at two processes at once: one of them is the device's.
    private func race(_ device: TestDevice) throws -> TestDevice {
        let both = [try device.rotation(), try device.rotation()]
        let replies = Mutex<[Int: HTTPClient.Reply]>([:])
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            let reply = place.post("/device/rotate", both[index].0.bytes, from: index) {
                state.withLock { $0.again += 1 }
            }
            replies.withLock { $0[index] = reply }
        }
        let winners = replies.withLock { replies in (0..<2).filter { replies[$0]?.status == 200 } }
        guard winners.count == 1 else {
            throw HTTPClient.Problem(description: "\(winners.count) of two won: \(replies.withLock { $0 })")
        }
        state.withLock { $0.done += 2 }
        return both[winners[0]].1
    }
}
