import BetterAuthMessages
import BetterAuthServer
import Dispatch
import Foundation
import SeededNumbers
import Synchronization
import TestSupport

/// A client that goes through whole lives of accounts.
final class ScaleLife: Sendable {
    /// A device whose state is known.
    struct Kept {
        let device: TestDevice
        let isDeleted: Bool
        let address: String
    }

    struct Counts: CustomStringConvertible {
        /// Answered; sent again; two that wanted the same; answers that came after their time.
        var (done, again, races, late) = (0, 0, 0, 0)

        var description: String { "\(done) answered, \(again) sent again, \(races) races, \(late) late" }

        static func + (one: Counts, other: Counts) -> Counts {
            var sum = one
            sum.done += other.done
            sum.again += other.again
            sum.races += other.races
            sum.late += other.late
            return sum
        }
    }

    /// What came too late to say anything: a machine may rest for any time, and replies, challenges and nonces are kept
    /// for theirs.
    struct Late: Error {}

    private struct State {
        var isEnding = false
        var counts = Counts()
        var problems: [String] = []
        var kept: [Kept] = []
        var generator: SeededGenerator
    }

    let times = ScaleTimes()
    private let state: Mutex<State>
    private let ended = DispatchSemaphore(value: 0)
    private let place: ScalePlace

    init(_ place: ScalePlace, _ number: Int) {
        self.place = place
        state = Mutex(State(generator: TestRun.generator("scale \(number)")))
        Thread.detachNewThread { [self] in
            while !state.withLock({ $0.isEnding || !$0.problems.isEmpty }) {
                do { try live() } catch is Late {
                    state.withLock { $0.counts.late += 1 }
                } catch {
                    state.withLock { $0.problems.append("\(error)") }
                }
            }
            ended.signal()
        }
    }

    var counts: Counts { state.withLock { $0.counts } }
    var problems: [String] { state.withLock { $0.problems } }
    var kept: [Kept] { state.withLock { $0.kept } }

    func end() {
        state.withLock { $0.isEnding = true }
        ended.wait()
    }

    /// Returns when so many more requests were answered, or one client has found something.
    static func wait(_ lives: [ScaleLife], more: Int) {
        let before = lives.map(\.counts.done).reduce(0, +)
        _ = Patience.wait {
            lives.map(\.counts.done).reduce(0, +) >= before + more || lives.contains { !$0.problems.isEmpty }
        }
    }

    func random(_ range: Range<Int>) -> Int { state.withLock { .random(in: range, using: &$0.generator) } }

    /// Sends until there is an answer.
    func post(_ path: String, _ bytes: [UInt8], _ address: String, from index: Int? = nil) throws -> HTTPClient.Reply {
        let begin = ContinuousClock.now
        let reply = place.post(path, bytes, from: index ?? random(0..<64), for: address) {
            state.withLock { $0.counts.again += 1 }
        }
        let passed = ContinuousClock.now - begin
        guard let reply else { throw HTTPClient.Problem(description: "\(path) is never answered") }
        times.add(Double(passed.components.seconds) * 1e3 + Double(passed.components.attoseconds) / 1e15)
        state.withLock { $0.counts.done += 1 }
        // A repeat has its reply for 300 s.
        if reply.status != 200, passed > .seconds(240) { throw Late() }
        return reply
    }

    /// Asks one process once.
    func once(_ path: String, _ bytes: [UInt8], _ address: String, at index: Int) -> HTTPClient.Reply? {
        let reply = try? place.post(path, bytes, at: index, for: address)
        return reply.flatMap { $0.isForLater ? nil : $0 }
    }

    /// Sends different requests at once, each until there is an answer: one is done.
    /// - Parameters:
    ///   - refusal: What all others are told.
    ///   - seconds: After which an answer says nothing.
    /// - Returns: Which one was done, and its reply.
    func race(
        _ path: String, _ messages: [[UInt8]], _ address: String, refusal: String, within seconds: Int
    ) throws -> (Int, HTTPClient.Reply) {
        let begin = ContinuousClock.now
        let replies = Mutex<[Int: Result<HTTPClient.Reply, any Error>]>([:])
        DispatchQueue.concurrentPerform(iterations: messages.count) { index in
            let reply = Result { try post(path, messages[index], address, from: index) }
            replies.withLock { $0[index] = reply }
        }
        let all = try (0..<messages.count).map { index in try replies.withLock { $0[index] }!.get() }
        let winners = all.indices.filter { all[$0].status == 200 }
        if winners.isEmpty, ContinuousClock.now - begin > .seconds(seconds) { throw Late() }
        guard winners.count == 1, all.count(where: { $0.text.contains(refusal) }) == all.count - 1 else {
            throw HTTPClient.Problem(description: "\(path): \(winners.count) won: \(all.map(\.text))")
        }
        state.withLock { $0.counts.races += 1 }
        return (winners[0], all[winners[0]])
    }

    /// Remembers what a device's state is. Keys lie in locked memory: the eldest go, and are looked at before.
    func keep(_ device: TestDevice, isDeleted: Bool, _ address: String) throws {
        let eldest = state.withLock { state in
            state.kept.append(Kept(device: device, isDeleted: isDeleted, address: address))
            return state.kept.count > 64 ? state.kept.removeFirst() : nil
        }
        if let eldest { try place.check(eldest) }
    }
}
