package import BetterAuthMessages
internal import Synchronization
internal import SystemCalls

/// The embedded store: one file, one thread that writes. It takes everything that waits into one transaction, so that
/// many requests share one flush; completions are called once it is on the disk.
package final class SQLiteStore: ServerStore {
    private enum Work: Sendable {
        case apply(AccountChange, Completion<AccountOutcome>)
        case reserve(RefreshReservation, Completion<SessionOutcome>)
        case probe(Timestamp, Completion<Void>)
        case mark(KeyMark, over: KeyMark?, Completion<Bool>)

        /// Nil for what has none.
        var moment: Timestamp? {
            switch self {
            case .apply(let change, _): change.moment
            case .reserve(let refresh, _): refresh.moment
            case .probe(let moment, _): moment
            case .mark: nil
            }
        }

        func fail(_ error: StoreError) {
            switch self {
            case .apply(_, let then): then(.failure(error))
            case .reserve(_, let then): then(.failure(error))
            case .probe(_, let then): then(.failure(error))
            case .mark(_, _, let then): then(.failure(error))
            }
        }
    }

    private let file: SQLiteFile
    private let settings: SQLiteSettings
    private let queue: WaitingQueue<Work>
    private let readers: SQLiteReaders
    private let accounts = AccountCache()
    /// In memory, and from a stop to the next start in the file: one that a kill takes away is unknown, and its device
    /// asks for another. Nil once it is left to the next process, which alone uses them up from then on.
    private let challenges: Mutex<ChallengeBook?>
    private let clock: any ServerClock
    private let clockWasSet: @Sendable (_ seconds: Int64, _ isStart: Bool) -> Void
    private let onLoss: @Sendable (StoreError) -> Void
    private let checkpoints: SQLiteCheckpoints
    private let threads = Mutex<[JoinableThread]>([])
    /// The word of the thread that writes.
    private let writing = Atomic<UInt>(0)

    /// Whether the file was made just now.
    package let isNew: Bool

    /// Opens a database, making or migrating it where needed.
    /// - Parameters:
    ///   - schema: This program's; another one for tests.
    ///   - lifetimes: What the process before has left is valid for no longer.
    ///   - clock: Operations bring their own moments; this one tells how long they are apart, too.
    ///   - clockWasSet: Told by how many seconds; at the start also for how long no process had the file.
    ///   - onLoss: Told why nothing could be left to the next process.
    ///   - onUpdate: Told when a file of an earlier version is brought to this program's.
    /// - Throws: ``StoreError/unavailable(_:)``, ``StoreError/tooNew(_:_:)``, ``StoreError/notCopied(_:_:)``,
    ///   ``StoreError/copyInTheWay(_:)``.
    package init(
        _ path: String, _ settings: SQLiteSettings = SQLiteSettings(), schema: SQLiteSchema = .current,
        lifetimes: Lifetimes = Lifetimes(), clock: any ServerClock = SystemClock(),
        clockWasSet: @escaping @Sendable (_ seconds: Int64, _ isStart: Bool) -> Void = { _, _ in },
        onLoss: @escaping @Sendable (StoreError) -> Void = { _ in },
        onUpdate: (SQLiteUpdate) -> Void = { _ in }
    ) throws(StoreError) {
        file = try SQLiteFile(path, creates: true)
        try schema.admit(path)
        self.settings = settings
        queue = WaitingQueue(capacity: settings.queue)
        let cache = max(settings.cache, 2) * 1024
        let connection = try SQLiteConnection(path, isWriter: true, cache: cache / 2)
        isNew = try schema.migrate(connection, at: path, onUpdate: onUpdate) == 0
        self.clock = clock
        self.onLoss = onLoss
        self.clockWasSet = clockWasSet
        var found = try SQLiteSetting.clock(connection, lifetime: lifetimes.refresh)
        if let set = found.advance(to: clock.now, ran: 0) { clockWasSet(set, true) }
        let (expiry, begun) = (found, clock.running)
        let left = SQLiteSetting.takeSessions(connection).flatMap { ChallengeHandover($0, lifetimes, now: clock.now) }
        challenges = Mutex(left?.book ?? ChallengeBook())
        let writer = try SQLiteWriter(connection)
        readers = SQLiteReaders(path, cache: cache / 8)
        checkpoints = SQLiteCheckpoints(path, threshold: settings.checkpointPages)
        let started = [JoinableThread { [self] in write(writer, expiry, since: begun) }, checkpoints.start()]
            .compactMap(\.self)
        threads.withLock { $0 = started }
        guard started.count == 2 else {
            close()
            throw .unavailable("no thread for the database")
        }
    }

    package var isRemote: Bool { false }

    package func account(_ identity: IdentityID) throws(StoreError) -> Account? {
        try accounts.account(identity) { () throws(StoreError) in try readers.account(identity) }
    }

    package func apply(_ change: AccountChange, then: @escaping Completion<AccountOutcome>) {
        add(.apply(change, then))
    }

    package func reserve(_ refresh: RefreshReservation, then: @escaping Completion<SessionOutcome>) {
        add(.reserve(refresh, then))
    }

    package func open(_ challenge: Challenge, then: @escaping Completion<Void>) {
        then(Result { () throws(StoreError) in try book { $0.open(challenge) } })
    }

    package func challenge(
        _ nonce: NonceText, answeredBy operation: OperationKey, now: Timestamp
    ) throws(StoreError) -> ChallengeState {
        try book { $0.state(of: nonce, answeredBy: operation, now: now) }
    }

    package func answer(_ answer: ChallengeAnswer, then: @escaping Completion<SessionOutcome>) {
        then(Result { () throws(StoreError) in try book { $0.answer(answer) } })
    }

    private func book<Value: Sendable>(_ body: (inout ChallengeBook) -> Value) throws(StoreError) -> Value {
        let value = challenges.withLock { book -> Value? in
            guard var held = book.take() else { return nil }
            defer { book = held }
            return body(&held)
        }
        guard let value else { throw .unavailable("the server stops") }
        return value
    }

    package func probe(now: Timestamp) throws(StoreError) { try wait { .probe(now, $0) } }

    package var gauges: [StoreGauge] {
        func size(_ suffix: String) -> Int {
            var status = stat()
            return unsafe stat(file.path + suffix, &status) == 0 ? Int(status.st_size) : 0
        }
        return [
            StoreGauge(
                "holdfast_database_bytes", "Size of the SQLite file and of its log.",
                [("part", "file", size("")), ("part", "wal", size("-wal"))]),
            StoreGauge(
                "holdfast_store_queue", "Operations that wait for the disk.", [("store", "sqlite", queue.count)]),
        ]
    }

    package func keyMark() throws(StoreError) -> KeyMark? {
        try SQLiteSetting.mark(SQLiteConnection(file.path, isWriter: false, cache: 64))
    }

    package func setKeyMark(_ mark: KeyMark, over known: KeyMark?) throws(StoreError) -> Bool {
        try wait { .mark(mark, over: known, $0) }
    }

    package func accounts(after name: [UInt8], most count: Int) throws(StoreError) -> [StoredAccount] {
        try readers.accounts(after: name, most: count)
    }

    package func close() {
        queue.close()
        let ending = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        ending.first?.join()
        checkpoints.close()
        ending.dropFirst().forEach { $0.join() }
        readers.close()
    }

    private static let busy = StoreError.unavailable("too much waits for the database")

    /// Has work done, and waits for it.
    private func wait<Value: Sendable>(_ work: (@escaping Completion<Value>) -> Work) throws(StoreError) -> Value {
        // The writing thread would wait for itself, and everything after it too.
        guard !isWriting else { throw .unavailable("a completion waits for the thread that called it") }
        let answer = Monitor<Result<Value, StoreError>?>(nil)
        add(
            work { result in
                answer.withLock { $0 = result }
                answer.wakeAll()
            })
        return try answer.withLock(when: { $0 != nil }) { $0 ?? .failure(SQLiteStore.busy) }.get()
    }

    /// Whether this is the thread that writes.
    private var isWriting: Bool { writing.load(ordering: .relaxed) == CurrentThread.word }

    private func add(_ work: Work) {
        if !queue.add(work) { work.fail(SQLiteStore.busy) }
    }
}

// On the writing thread.
extension SQLiteStore {
    /// Milliseconds between two looks at what has expired, and between two at which the clock is written down.
    private static let (trimInterval, clockInterval): (Int64, Int64) = (1000, 10_000)

    private func write(_ writer: SQLiteWriter, _ expiry: ExpiryClock, since begun: Int64) {
        writing.store(CurrentThread.word, ordering: .relaxed)
        var expiry = expiry
        var (looked, kept) = (begun, Int64.min)
        /// - Returns: Whether it is to be written down.
        func look(_ now: Timestamp) -> Bool {
            let running = clock.running
            let set = expiry.advance(to: now, ran: running - looked)
            looked = running
            if let set { clockWasSet(set, false) }
            return set != nil || kept == .min || running - kept >= Self.clockInterval
        }
        var trimmed = Timestamp.never
        var place: [UInt8] = []
        while let batch = queue.takeAll() {
            do throws(StoreError) {
                try writer.begin()
                var answers: [() -> Void] = []
                answers.reserveCapacity(batch.count)
                for work in batch { answers.append(try perform(work, writer)) }
                if let now = batch.last(where: { $0.moment != nil })?.moment,
                    abs(now.milliseconds - trimmed.milliseconds) >= Self.trimInterval
                {
                    try writer.trim(now: now, most: 20_000)
                    if look(now) {
                        try writer.keep(expiry)
                        kept = looked
                    }
                    place = try writer.sweep(from: place, before: expiry.limit, least: 500)
                    trimmed = now
                }
                try writer.commit()
                accounts.apply(writer.changed)
                for answer in answers { answer() }
            } catch {
                writer.rollBack()
                accounts.clear()
                for work in batch { work.fail(error) }
            }
            checkpoints.committed(writer)
        }
        _ = look(clock.now)
        handOver(writer, expiry)
        // There are no readers left: the file alone is the database again.
        _ = try? writer.checkpoint()
    }

    /// Leaves what is in memory to the next process. Where that fails it is lost, as after a kill.
    private func handOver(_ writer: SQLiteWriter, _ expiry: ExpiryClock) {
        // Requests may still be under way, if the front gave up waiting for them.
        guard let book = challenges.withLock({ $0.take() }) else { return }
        let bytes = ChallengeHandover(book).bytes(now: clock.now)
        do throws(StoreError) {
            try writer.begin()
            try writer.leaveSessions(bytes)
            try writer.keep(expiry)
            try writer.commit()
        } catch {
            writer.rollBack()
            onLoss(error)
        }
    }

    /// Does one piece of work and returns what is to be said once it is on the disk.
    /// - Throws: What makes the whole transaction fail; a damaged row fails alone, since nothing was written for it.
    private func perform(_ work: Work, _ writer: SQLiteWriter) throws(StoreError) -> () -> Void {
        do throws(StoreError) {
            switch work {
            case .apply(let change, let then):
                let outcome = try writer.apply(change)
                return { then(.success(outcome)) }
            case .reserve(let refresh, let then):
                let outcome = try writer.reserve(refresh)
                return { then(.success(outcome)) }
            case .probe(let moment, let then):
                try writer.probe(moment)
                return { then(.success(())) }
            case .mark(let mark, let known, let then):
                let isSet = try writer.mark(mark, over: known)
                return { then(.success(isSet)) }
            }
        } catch {
            guard error == .damaged else { throw error }
            return { work.fail(.damaged) }
        }
    }
}

/// How the embedded store works.
package struct SQLiteSettings: Sendable, Hashable {
    /// MiB of pages kept in memory, half of them by the writer.
    package var cache = 16
    /// Pages in the log from which it is brought into the file.
    package var checkpointPages = 4000
    /// Operations that wait for the writer; more are refused.
    package var queue = 16_384

    package init() {}
}
