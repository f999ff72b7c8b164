internal import VaultFormat
internal import SystemCalls

/// Joins writes that arrive while a commit is on its way into the next one: one flush of the disk serves them all.
///
/// The first to come leads: it takes the whole queue, runs it in one transaction, and wakes the others. Threads whose
/// writes were in one transaction mostly come again at about the same time: the first waits a moment for the others, or
/// it would write alone, and they after it.
///
/// A write that fails after it changed something is taken out and the rest is run again, so that each stands or falls
/// alone.
package final class WriteQueue: Sendable {
    /// One caller's write, waiting.
    private final class Pending: @unchecked Sendable {  // what changes is guarded by the monitor
        /// Let go of with the result: the caller's closure must not be held when its call returns.
        var run: ((inout WriteSession) throws(VaultError) -> Void)?
        var result: Result<[String], VaultError>?
        init(_ run: @escaping (inout WriteSession) throws(VaultError) -> Void) { self.run = run }
    }

    private struct State {
        var waiting: [Pending] = []
        var isLed = false
        /// How many writes the last transaction had.
        var lastCount = 1
        /// The thread that runs a caller's closure.
        var performer: UInt?

        /// A write inside a batch's closure would wait for itself.
        func refuseNested() throws(VaultError) {
            guard performer == CurrentThread.word else { return }
            throw VaultError(.busy, "write through the batch that is open, not beside it")
        }

        mutating func takeAll() -> [Pending] {
            lastCount = waiting.count
            defer { waiting = [] }
            return waiting
        }
    }

    private let monitor = Monitor(State())
    private let writer: WriterState
    private let nap: @Sendable () -> Void

    package convenience init(
        _ keys: RecordKeys, _ database: DatabaseLease, in home: HomeDirectory
    ) throws(VaultError) {
        try self.init(keys, database, in: home) { usleep(20) }
    }

    /// - Parameter nap: How a leader waits for others.
    init(
        _ keys: RecordKeys, _ database: DatabaseLease, in home: HomeDirectory,
        napping nap: @escaping @Sendable () -> Void
    ) throws(VaultError) {
        writer = try WriterState(keys, database, in: home)
        self.nap = nap
    }

    /// Runs `body` alone in a transaction on this thread: a caller's closure may belong to an actor or a thread.
    /// - Parameter isRepeatable: Whether it bears to be run once more where it took more room than there was. A
    ///   caller's runs once.
    /// - Returns: As ``join(_:)``.
    package func perform(
        patience: Int = WriterState.patience, isRepeatable: Bool = false,
        _ body: (inout WriteSession) throws(VaultError) -> Void
    ) throws(VaultError) -> [String] {
        _ = try monitor.withLock { queue throws(VaultError) in try queue.refuseNested() }
        monitor.withLock(when: { !$0.isLed }) { queue in
            queue.isLed = true
            queue.performer = CurrentThread.word
        }
        defer { endLead() }
        do throws(VaultError) {
            return try isRepeatable ? fit(patience: patience, body) : transact(patience: patience, body)
        } catch {
            throw !isRepeatable && writer.makesRoom() ? .roomWasMade : error
        }
    }

    /// As ``transact(patience:_:)``, with more room each time that it does not fit.
    private func fit(
        patience: Int = WriterState.patience, _ body: (inout WriteSession) throws(VaultError) -> Void
    ) throws(VaultError) -> [String] {
        while true {
            do throws(VaultError) { return try transact(patience: patience, body) } catch {
                if !writer.makesRoom() { throw error }
            }
        }
    }

    /// One transaction for this alone.
    private func transact(
        patience: Int = WriterState.patience, _ body: (inout WriteSession) throws(VaultError) -> Void
    ) throws(VaultError) -> [String] {
        try writer.lock(patience: patience)
        defer { writer.unlock() }
        var session = try WriteSession(writer)
        try body(&session)
        let files = session.releasedFiles
        try session.commit()
        return files
    }

    /// Runs `body` in a transaction, perhaps with others, on another thread, or more than once; returns when it is on
    /// the disk. For closures of our own, which bear all that.
    /// - Returns: Names of encrypted files that nothing refers to any more; the caller removes them.
    package func join(_ body: (inout WriteSession) throws(VaultError) -> Void) throws(VaultError) -> [String] {
        if try leadAlone() {
            defer { endLead() }
            return try fit(body)
        }
        // The closure does not outlive this call: we return only when its result is there.
        let result = withoutActuallyEscaping(body) { body in
            let mine = Pending(body)
            monitor.withLock { $0.waiting.append(mine) }
            let leads = monitor.withLock(when: { mine.result != nil || !$0.isLed }) { queue in
                guard mine.result == nil else { return false }
                queue.isLed = true
                return true
            }
            if leads { lead(gather()) }
            return mine.result ?? .failure(.locked)
        }
        return try result.get()
    }

    /// Leads at once if no one writes or waits: most writes are alone.
    private func leadAlone() throws(VaultError) -> Bool {
        try monitor.withLock { queue throws(VaultError) in
            try queue.refuseNested()
            if queue.isLed || !queue.waiting.isEmpty || queue.lastCount > 1 { return false }
            queue.isLed = true
            return true
        }
    }

    /// What waits, for the thread that leads. While they are fewer than last time and become more, it naps, a few times
    /// at most: a nap takes a fraction of what a commit does.
    private func gather() -> [Pending] {
        var seen = 0
        for _ in 0..<4 {
            let isComplete = monitor.withLock { queue in
                defer { seen = queue.waiting.count }
                return queue.waiting.count >= queue.lastCount || queue.waiting.count == seen
            }
            if isComplete { break }
            nap()
        }
        return monitor.withLock { $0.takeAll() }
    }

    private func endLead() {
        monitor.withLock { queue in
            queue.isLed = false
            queue.performer = nil
        }
        monitor.wakeAll()
    }

    /// Runs everything that waited.
    private func lead(_ batch: [Pending]) {
        let results = run(batch)
        monitor.withLock { queue in
            for (pending, result) in zip(batch, results) {
                pending.run = nil
                pending.result = result
            }
            queue.isLed = false
        }
        monitor.wakeAll()
    }

    private func run(_ batch: [Pending]) -> [Result<[String], VaultError>] {
        var results = [Result<[String], VaultError>?](repeating: nil, count: batch.count)
        while results.contains(where: { $0 == nil }) {
            do throws(VaultError) {
                try attempt(batch, &results)
            } catch {
                if writer.makesRoom() { continue }
                for index in results.indices where results[index] == nil { results[index] = .failure(error) }
            }
        }
        return results.map { $0 ?? .failure(.locked) }
    }

    /// One transaction over all that have no result yet. Returns early when one of them has to be left out.
    private func attempt(
        _ batch: [Pending], _ results: inout [Result<[String], VaultError>?]
    ) throws(VaultError) {
        try writer.lock()
        defer { writer.unlock() }
        var session = try WriteSession(writer)
        var done: [(index: Int, files: [String])] = []
        for index in batch.indices where results[index] == nil {
            let filesBefore = session.releasedFiles.count
            session.beginOperation()
            do throws(VaultError) {
                try batch[index].run?(&session)
                done.append((index, Array(session.releasedFiles[filesBefore...])))
            } catch {
                if writer.makesRoom() { return }
                results[index] = .failure(error)
                if session.operationChanged || !error.leavesTransactionWhole { return }
            }
        }
        try session.commit()
        for (index, files) in done { results[index] = .success(files) }
    }
}
