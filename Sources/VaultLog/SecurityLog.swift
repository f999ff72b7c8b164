internal import Cryptography
internal import SecretMemory
internal import Synchronization
internal import SystemCalls
package import VaultFormat
package import VaultStorage

/// The security log of one vault (constructions.md 8). Appending works while the vault is locked; reading needs its
/// keys.
///
/// If the log cannot be written, operations still succeed: what could not be written is counted, reported by
/// ``problem`` and ``Vault/status()``, and logged as soon as the log can be written again.
package final class SecurityLog: Sendable {
    /// What the log has in a home.
    package static let fileNames = [LogSegment.name, LogSegment.previousName, LogSegment.newName, LogStateFile.name]

    let home: HomeDirectory
    let vault: VaultID
    private let clock: @Sendable () -> LogMoment
    private let entriesPerSegment: UInt64
    let memory = Mutex(Memory())

    /// What this process knows beside the files.
    struct Memory {
        var missed: UInt32 = 0
        var missedSince: Int64?
        var problem: VaultError?
        var observers: [UInt64: AsyncStream<LogEntry>.Continuation] = [:]
        var nextObserver: UInt64 = 0
    }

    /// - Parameter entriesPerSegment: At most ``LogFormat/entriesPerSegment``; fewer for tests.
    package init(
        in home: HomeDirectory, vault: VaultID, entriesPerSegment: UInt64 = LogFormat.entriesPerSegment,
        clock: @escaping @Sendable () -> LogMoment
    ) {
        self.entriesPerSegment = min(entriesPerSegment, LogFormat.entriesPerSegment)
        self.home = home
        self.vault = vault
        self.clock = clock
    }

    deinit {
        for observer in memory.withLock({ $0.observers }).values { observer.finish() }
    }

    /// Why the last event could not be written, or its state not be saved; nil when it was.
    package var problem: VaultError? { memory.withLock { $0.problem } }

    /// Events of this process that are in no entry yet.
    package var missedEvents: Int { memory.withLock { Int($0.missed) } }

    var now: LogMoment { clock() }

    // MARK: appending

    /// What makes a new chain where there is none to continue.
    package struct Begin {
        /// The vault's log keys, made when they are needed.
        let keys: () throws(VaultError) -> LogKeys
        /// The epoch of the header that lies in the home now.
        let epoch: () throws(VaultError) -> UInt32
        /// What the attempt ledger knew before this success.
        let refused: UInt32
        let unsettled: UInt32

        package init(
            keys: @escaping () throws(VaultError) -> LogKeys, epoch: @escaping () throws(VaultError) -> UInt32,
            refused: UInt32, unsettled: UInt32
        ) {
            self.keys = keys
            self.epoch = epoch
            self.refused = refused
            self.unsettled = unsettled
        }
    }

    /// Writes down that something happened; durable when it returns true.
    ///
    /// - Returns: False when it could not be written: see ``problem``.
    @discardableResult
    package func append(_ event: SecurityEvent) -> Bool { append(event, begin: nil) }

    /// As ``append(_:)``, for what needs no secret and may come in a flood.
    @discardableResult
    package func append(_ kind: UnprovenEvent) -> Bool {
        append(.unproven(kind, LogRun(since: now.time)), begin: nil)
    }

    /// - Parameters:
    ///   - begin: Makes a new chain where the old one is lost; nil while the vault is locked.
    ///   - waits: Whether the state is on the disk too when this returns; the entry always is.
    @discardableResult
    package func append(_ event: SecurityEvent, begin: Begin?, waits: Bool = true) -> Bool {
        let moment = now
        tell(event, moment)
        return keepCount(moment) { () throws(VaultError) in
            try write(event, at: moment, begin: begin, waits: waits)
        }
    }

    /// Counts what could not be written; what could be, is no longer owed.
    private func keepCount(
        _ moment: LogMoment, _ body: () throws(VaultError) -> VaultError?
    ) -> Bool {
        do throws(VaultError) {
            let problem = try body()
            memory.withLock { $0.problem = problem }
            return true
        } catch {
            memory.withLock { memory in
                memory.problem = error
                if memory.missed < .max { memory.missed += 1 }
                memory.missedSince = memory.missedSince ?? moment.time
            }
            return false
        }
    }

    /// - Returns: What kept the state from following the entry, if anything did.
    private func write(
        _ event: SecurityEvent, at moment: LogMoment, begin: Begin?, waits: Bool
    ) throws(VaultError) -> VaultError? {
        var session = try open(at: moment, begin: begin)
        session.entriesPerSegment = entriesPerSegment
        try writeMissed(&session, at: moment)
        if case .unproven(let kind, _) = event {
            try session.record(kind, at: moment)
        } else {
            try session.record(event, at: moment, waits: waits)
        }
        return session.stateFailure
    }

    private func open(at moment: LogMoment, begin: Begin?) throws(VaultError) -> LogSession {
        guard let file = try LogStateFile.open(begin == nil ? .appending : .creating, in: home, vault: vault) else {
            throw .logLost
        }
        if file.state?.kind == .live {
            var session = try LogSession(file, in: home, bootID: moment.bootID)
            guard let begin else {
                guard session.hasRoom else { throw .logLost }
                try session.reconcile(at: moment)
                return session
            }
            return try resume(session, file, begin, at: moment)
        }
        guard let begin else { throw .logLost }
        return try restart(file, begin, at: moment)
    }

    /// Continues only if an unlocked vault can prove that the chain is its own: the state itself is unauthenticated.
    /// From here on entries are sealed to the newest log key.
    private func resume(
        _ session: consuming LogSession, _ file: LogStateFile, _ begin: Begin, at moment: LogMoment
    ) throws(VaultError) -> LogSession {
        var session = session
        let keys = try begin.keys()
        // Keys from before another process's rekey are no reason to go back to them.
        guard try begin.epoch() == keys.newest.epoch else {
            try session.reconcile(at: moment)
            return session
        }
        guard session.hasRoom, let epoch = try keys.epoch(of: session) else {
            return try restart(file, begin, at: moment)
        }
        if epoch == keys.newest.epoch {
            try session.reconcile(at: moment)
            if !session.isSealing(to: keys.newest) { try session.replaceRecipient(by: keys.newest, at: moment) }
            // What an unlock computes anew stays short.
            guard session.end.next > LogFormat.longestChain else { return session }
        } else {
            // Of older keys: a rekey was cut off before it came here. After it is finished, it comes from someone who
            // has those.
            guard keys.areChanging else { return try restart(file, begin, at: moment) }
            try session.reconcile(at: moment)
        }
        return try beginAnew(after: session, file, begin, keys.newest, at: moment)
    }

    /// The chain that follows a rekey. Someone with the old keys can rewrite the past, so the new chain contains its
    /// hash.
    private func beginAnew(
        after session: borrowing LogSession, _ file: LogStateFile, _ begin: Begin, _ newest: LogEpochKey,
        at moment: LogMoment
    ) throws(VaultError) -> LogSession {
        let end = session.end
        let written = try LogSegment.bytes(LogSegment.name, in: home) ?? []
        let digest = unsafe FileChecksum.of(Array(written.prefix(Int(end.size))).span.bytes)
        let restart = LogRestart(
            reason: .newKeys, previous: end.link, found: end.next, refused: begin.refused, unsettled: begin.unsettled,
            digest: digest)
        return try SecurityLog.begin(file, .restarted(restart), in: home, vault: vault, newest, at: moment)
    }

    private func writeMissed(_ session: inout LogSession, at moment: LogMoment) throws(VaultError) {
        let (count, since) = memory.withLock { ($0.missed, $0.missedSince) }
        guard count > 0 else { return }
        try session.record(.missed(count: count, since: since ?? moment.time), at: moment)
        // Another thread may have missed one meanwhile.
        memory.withLock { memory in
            memory.missed -= min(count, memory.missed)
            memory.missedSince = memory.missed == 0 ? nil : moment.time
        }
    }
}

extension SecurityLog {
    /// Which of the keybag's log keys segments are written with; those of other epochs can be forgotten.
    package func epochsInUse() -> Set<UInt32> {
        var epochs: Set<UInt32> = []
        for name in [LogSegment.name, LogSegment.newName, LogSegment.previousName] {
            guard let file = try? home.openFile(name, O_RDONLY), let front = try? LogSegment.front(of: file) else {
                continue
            }
            epochs.insert(front.epoch)
        }
        return epochs
    }

    /// Makes the log continue under the newest keys.
    /// - Throws: What kept it from that: the older keys must not be forgotten yet.
    package func switchToNewKeys(_ begin: Begin) throws(VaultError) {
        let session = try open(at: now, begin: begin)
        if let failure = session.stateFailure { throw failure }
    }

    /// Begins a chain in a vault that exists; what is left of the old one is set aside.
    private func restart(
        _ file: LogStateFile, _ begin: Begin, at moment: LogMoment
    ) throws(VaultError) -> LogSession {
        let old = try? LogSegment.bytes(LogSegment.name, in: home)
        let reason: LogRestart.Reason =
            switch file.state?.kind {
            case .backup: .backup
            case .restored: .restored
            case .live, nil: old == nil && !home.exists(LogSegment.previousName) ? .nothingFound : .stateLost
            }
        let previous = old.flatMap { LogSegment.front(of: $0)?.link }
        let found = try old.map { old throws(VaultError) in
            try LogReader(old, keys: begin.keys(), vault: vault)?.end
        }
        // A copy knows how many entries there were.
        let isCopied = file.state.map { $0.kind != .live && $0.chain == previous?.chain } ?? false
        let copied = isCopied ? file.state?.next ?? 0 : 0
        let restart = LogRestart(
            reason: reason, previous: previous, found: max((found ?? nil) ?? 0, copied), refused: begin.refused,
            unsettled: begin.unsettled)
        return try SecurityLog.begin(
            file, .restarted(restart), in: home, vault: vault, begin.keys().newest, at: moment)
    }

    private static func begin(
        _ file: LogStateFile, _ event: SecurityEvent, in home: HomeDirectory, vault: VaultID, _ keys: LogEpochKey,
        at moment: LogMoment
    ) throws(VaultError) -> LogSession {
        let bytes = try crypto(SecureRandom.bytes(16))
        guard let chain = LogChain(bytes: bytes) else { throw VaultError(.cryptography, "no random bytes") }
        return try LogSession(
            chain: chain, key: keys.first(of: chain), recipient: keys.recipient, file: file, in: home, vault: vault,
            first: event, at: moment)
    }

    /// Begins the log of a new vault.
    /// - Throws: What writing can throw.
    package static func create(
        in home: HomeDirectory, vault: VaultID, keys: LogKeys, clock: @escaping @Sendable () -> LogMoment
    ) throws(VaultError) {
        let log = SecurityLog(in: home, vault: vault, clock: clock)
        guard let file = try LogStateFile.open(.creating, in: home, vault: vault) else {
            throw .damaged("\(LogStateFile.name) cannot be created")
        }
        let session = try begin(file, .created, in: home, vault: vault, keys.newest, at: log.now)
        if let failure = session.stateFailure { throw failure }
    }
}

extension VaultError {
    static let logLost = VaultError.damaged("the security log's state is lost; the next unlock begins a new one")
}

extension SecurityLog {
    /// Gives a copy of a home the log of the one it was copied from, to be read there, but not its key, with which a
    /// finder of the copy could read and continue what the first one adds later. The copy's first unlock begins a chain
    /// of its own and keeps the newest part of this one.
    ///
    /// A log that cannot be read gives a copy without; it says so itself when it is opened.
    /// - Throws: What writing into `target` throws.
    package static func copy(
        from source: HomeDirectory, to target: HomeDirectory, vault: VaultID, as kind: LogState.Kind
    ) throws(VaultError) {
        let file = (try? LogStateFile.open(.reading, in: source, vault: vault)) ?? nil
        for name in [LogSegment.name, LogSegment.previousName] {
            guard let bytes = (try? LogSegment.bytes(name, in: source)) ?? nil else { continue }
            guard let copy = try target.openFile(name, O_RDWR | O_CREAT | O_EXCL) else { continue }
            try copy.write(bytes, at: 0)
            try copy.synchronize()
        }
        guard var state = file?.state else { return }
        state.kind = kind
        state.run = nil
        state.recipient = nil
        guard let copy = try LogStateFile.open(.creating, in: target, vault: vault) else { return }
        try copy.writeWithoutKey(state)
    }
}
