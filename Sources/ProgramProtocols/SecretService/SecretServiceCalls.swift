/// The calls of the Secret Service that are under way, and whose turn is next. A value without any effect.
///
/// Processes take turns, however many connections and calls each has, and those that need room in locked memory get it
/// in this order. Where there are too many calls, the process with the most makes room, and not who comes next.
package struct SecretServiceCalls: Sendable {
    /// Calls at once, and of one process.
    package static let most = 64, mostOfProcess = 16
    /// Bytes of a secret that need no room of their own.
    package static let small = 65_536

    private enum Stage: Sendable, Hashable {
        case waiting
        case working
        /// The user is asked about it.
        case asking
    }

    private struct Call: Sendable {
        let client: SecretServiceClient
        /// Bytes of a large secret that wait in its message.
        let held: Int
        /// Bytes of locked memory that it needs.
        var room: Int
        var stage = Stage.waiting
    }

    private typealias Process = SecretServiceClient.Process
    private let threads: Int
    /// Bytes of locked memory that large secrets share: the largest fits.
    private let room: Int
    private var calls: [UInt64: Call] = [:]
    /// What threads work for, and the room that it has; also for clients that have left.
    private var working: [UInt64: Int] = [:]
    /// Those that wait, each process's in their order; the process at the front is next.
    private var turns: [(process: Process?, numbers: [UInt64])] = []

    /// - Parameters:
    ///   - threads: That work at once.
    ///   - room: Bytes of locked memory for large secrets.
    package init(threads: Int, room: Int) { (self.threads, self.room) = (threads, room) }

    /// Bytes of large secrets that wait in messages, and those of one process.
    private var mostHeld: Int { 4 * room }
    private var mostHeldOfProcess: Int { 2 * room }

    /// A call comes in, and waits for its turn.
    /// - Parameter held: Bytes of the secret that it brings.
    /// - Returns: The calls that make room for it and are at their end; nil where it has no room itself.
    package mutating func begin(_ number: UInt64, _ client: SecretServiceClient, holding held: Int = 0) -> [UInt64]? {
        let held = held > SecretServiceCalls.small ? min(held, room) : 0
        let own = calls.values.filter { $0.client.process == client.process }
        guard own.count < SecretServiceCalls.mostOfProcess,
            held == 0 || own.reduce(held, { $0 + $1.held }) <= mostHeldOfProcess
        else { return nil }
        var (after, ended): (SecretServiceCalls, [UInt64]) = (self, [])
        func end(_ found: UInt64?) -> Bool {
            guard let found else { return false }
            after.finish(found)
            ended.append(found)
            return true
        }
        while after.calls.count >= SecretServiceCalls.most {
            guard end(after.superfluous(against: client.process, 1) { _ in 1 }) else { return nil }
        }
        while held > 0, after.calls.values.reduce(held, { $0 + $1.held }) > mostHeld {
            guard end(after.superfluous(against: client.process, held) { $0.held }) else { return nil }
        }
        self = after
        calls[number] = Call(client: client, held: held, room: held)
        wait(number, isFirst: false)
        return ended
    }

    /// The newest call of those who take the most of something. What a thread works for is not ended.
    private func superfluous(against process: Process?, _ amount: Int, _ size: (Call) -> Int) -> UInt64? {
        var shares = SecretServiceShares()
        for call in calls.values { shares.add(call.client.process, size(call)) }
        let most = shares.most(against: process, with: amount)
        let found = calls.filter { most.contains($0.value.client.process) && size($0.value) > 0 }
        return found.filter { $0.value.stage == .waiting }.keys.max()
            ?? found.filter { $0.value.stage == .asking }.keys.max()
    }

    private mutating func wait(_ number: UInt64, isFirst: Bool) {
        guard let call = calls[number] else { return }
        calls[number]?.stage = .waiting
        guard let index = turns.firstIndex(where: { $0.process == call.client.process }) else {
            return turns.append((call.client.process, [number]))
        }
        turns[index].numbers.insert(number, at: isFirst ? 0 : turns[index].numbers.count)
    }

    /// The call that a thread works for now, with the room that it needs; nil for none. Each is there once.
    package mutating func next() -> (number: UInt64, room: Int)? {
        guard working.count < threads else { return nil }
        var free = room - working.values.reduce(0, +)
        for (index, turn) in turns.enumerated() {
            guard let number = turn.numbers.first, let needed = calls[number]?.room else { continue }
            guard needed <= free || needed == 0 else {
                // Nobody behind it takes what it waits for.
                free = 0
                continue
            }
            turns.remove(at: index)
            if turn.numbers.count > 1 { turns.append((turn.process, Array(turn.numbers.dropFirst()))) }
            calls[number]?.stage = .working
            working[number] = needed
            return (number, needed)
        }
        return nil
    }

    /// A thread has done what it could. Its room is free.
    package mutating func rest(_ number: UInt64) {
        working[number] = nil
        if calls[number] != nil { calls[number]?.stage = .asking }
    }

    /// It is begun again when it is its turn, before others of its process.
    /// - Parameter room: What it needs for that; nil for as much as before.
    package mutating func again(_ number: UInt64, room: Int? = nil) {
        guard let call = calls[number], call.stage != .waiting else { return }
        calls[number]?.room = min(room ?? call.room, self.room)
        wait(number, isFirst: true)
    }

    /// A call was answered.
    package mutating func finish(_ number: UInt64) {
        calls[number] = nil
        for index in turns.indices { turns[index].numbers.removeAll { $0 == number } }
        turns.removeAll(where: \.numbers.isEmpty)
    }

    /// The calls that wait for their turn.
    package var waiting: [UInt64] { calls.filter { $0.value.stage == .waiting }.keys.sorted() }

    /// A client has left the bus: what waits for it ends. What a thread works for ends with that, so that clients that
    /// come and go have no more than others.
    /// - Returns: What has ended.
    package mutating func leave(_ client: String) -> [UInt64] {
        let left = calls.filter { $0.value.client.name == client && $0.value.stage != .working }.keys.sorted()
        for number in left { finish(number) }
        return left
    }
}
