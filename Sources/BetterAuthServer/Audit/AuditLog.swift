internal import Synchronization
internal import SystemCalls

/// The record of account operations, in a file whose lines prove each other. One thread writes: all that waits goes to
/// the disk with one flush, and only then do the replies go out.
package final class AuditLog: Sendable {
    /// What happens while the log cannot be written.
    package enum Policy: String, Sendable, CaseIterable {
        /// Operations are refused, and the server is not ready.
        case refuse = "refuse"
        /// Operations continue. Their entries wait for room, as many as there is memory for.
        case warn = "warn"
    }

    /// Entries that wait for a disk.
    private static let mostWaiting = 16_384
    /// Seconds between two looks at a log that could not be written.
    private static let interval = 1.0

    private struct Item: Sendable {
        enum Work: Sendable {
            case entry(AuditEntry)
            case look, reopen
            case adopt(AuditKey)
        }

        let work: Work
        var then: @Sendable (Bool) -> Void = { _ in }
    }

    private struct State {
        var failure: String?
        var looked = 0.0
        var lost = 0
        var key: String
    }

    private let policy: Policy
    private let clock: any ServerClock
    private let queue = WaitingQueue<Item>(capacity: AuditLog.mostWaiting)
    private let state: Mutex<State>
    private let isFailing = Atomic(false)
    private let thread: JoinableThread
    private let report: @Sendable (String?) -> Void

    /// Opens the file and begins a chain in it.
    /// - Parameter report: Told what the log cannot be written for, and nil when it can be again.
    /// - Throws: ``Failure``.
    package init(
        _ path: String, _ key: AuditKey, _ policy: Policy, clock: any ServerClock = SystemClock(),
        report: @escaping @Sendable (String?) -> Void
    ) throws(Failure) {
        self.policy = policy
        state = Mutex(State(key: key.name))
        self.clock = clock
        self.report = report
        let writer: AuditWriter
        do { writer = try AuditWriter(path, key, now: clock.now) } catch let failure as Failure { throw failure } catch
        {
            throw Failure(path, "\(error)")
        }
        let held = HeldWriter(writer)
        let log = LateLog()
        guard let thread = JoinableThread({ log.wait()?.run(held) }) else { throw Failure(path, "no thread is left") }
        self.thread = thread
        log.give(self)
    }

    /// Why the log cannot be had.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        package let description: String

        init(_ path: String, _ reason: String) { description = "\(path): \(reason)" }
    }

    /// What is wrong; nil when lines can be written.
    package var failure: String? { state.withLock { $0.failure } }

    /// Entries that were given up.
    package var lost: Int { state.withLock { $0.lost } }

    /// Whether an operation may begin. Asking makes the log look again, once in a while.
    package var admits: Bool {
        guard isFailing.load(ordering: .relaxed) else { return true }
        lookAgain(now: MonotonicClock.seconds)
        return policy == .warn
    }

    /// Looks whether a log that could not be written can be written again.
    package func examine() { if isFailing.load(ordering: .relaxed) { lookAgain(now: .infinity) } }

    private func lookAgain(now: Double) {
        let isTime = state.withLock { state in
            guard now - state.looked >= AuditLog.interval else { return false }
            state.looked = min(now, MonotonicClock.seconds)
            return true
        }
        if isTime { _ = queue.add(Item(work: .look)) }
    }

    /// Writes an entry.
    /// - Parameter then: Called when it is on the disk; with false when it is not and the operation's reply must not go
    ///   out as if it was.
    package func record(_ entry: AuditEntry, then: @escaping @Sendable (Bool) -> Void = { _ in }) {
        guard !queue.add(Item(work: .entry(entry), then: then)) else { return }
        state.withLock { $0.lost += 1 }
        then(policy == .warn)
    }

    /// Writes an entry, and waits for it.
    /// - Returns: As what ``record(_:then:)`` calls.
    package func recordAndWait(_ entry: AuditEntry) -> Bool {
        let outcome = Monitor<Bool?>(nil)
        record(entry) { isWritten in
            outcome.withLock { $0 = isWritten }
            outcome.wakeAll()
        }
        return outcome.withLock(when: { $0 != nil }, { $0 ?? false })
    }

    /// Continues in the file that now has the name: the one before was moved away.
    package func reopen() { _ = queue.add(Item(work: .reopen)) }

    /// Continues with another key, if it is another one.
    package func adopt(_ key: AuditKey) {
        let isOther = state.withLock { state in
            defer { state.key = key.name }
            return state.key != key.name
        }
        if isOther { _ = queue.add(Item(work: .adopt(key))) }
    }

    /// Ends the chain, after what was recorded is written.
    package func close() {
        queue.close()
        thread.join()
    }

    // The thread's own.

    private func run(_ held: HeldWriter) {
        /// Entries that were not written, and whose replies are out or refused.
        var waiting: [AuditEntry] = []
        var toldLost = 0
        while let items = queue.takeAll() {
            var entries: [Item] = []
            for item in items {
                switch item.work {
                case .entry, .look: entries.append(item)
                case .reopen, .adopt:
                    write(entries, &waiting, &toldLost, held)
                    entries = []
                    turn(item.work, held)
                }
            }
            write(entries, &waiting, &toldLost, held)
        }
        if !waiting.isEmpty { write([Item(work: .look)], &waiting, &toldLost, held) }
        try? held.writer.close(now: clock.now)
    }

    private func write(
        _ items: [Item], _ waiting: inout [AuditEntry], _ toldLost: inout Int, _ held: HeldWriter
    ) {
        guard !items.isEmpty else { return }
        let new = items.compactMap { item in if case .entry(let entry) = item.work { entry } else { nil } }
        let lost = lost
        do {
            try held.writer.write(waiting + new, lost: lost - toldLost, now: clock.now)
            toldLost = lost
            waiting = []
            tell(nil)
            items.forEach { $0.then(true) }
        } catch {
            waiting += new
            let surplus = waiting.count - AuditLog.mostWaiting
            if surplus > 0 {
                waiting.removeLast(surplus)
                state.withLock { $0.lost += surplus }
            }
            tell("\(error)")
            items.forEach { $0.then(policy == .warn) }
        }
    }

    private func turn(_ work: Item.Work, _ held: HeldWriter) {
        do {
            if case .adopt(let key) = work {
                try held.writer.adopt(key, now: clock.now)
            } else {
                try? held.writer.close(now: clock.now)
                try held.writer.write([], lost: 0, now: clock.now)
            }
            tell(nil)
        } catch { tell("\(error)") }
    }

    private func tell(_ failure: String?) {
        isFailing.store(failure != nil, ordering: .relaxed)
        state.withLock { $0.failure = failure }
        report(failure)
    }
}

/// The writer, which only the log's thread uses.
private final class HeldWriter: @unchecked Sendable {  // one thread has it at a time
    var writer: AuditWriter

    init(_ writer: consuming AuditWriter) { self.writer = writer }
}

/// The log, once it is whole: its thread begins before.
private final class LateLog: Sendable {
    private let log = Monitor<AuditLog?>(nil)

    func give(_ log: AuditLog) {
        self.log.withLock { $0 = log }
        self.log.wakeAll()
    }

    func wait() -> AuditLog? {
        log.withLock(when: { $0 != nil }) { log in
            // Not kept: the thread has it while it runs.
            defer { log = nil }
            return log
        }
    }
}
