internal import Cryptography
internal import VaultFormat
internal import VaultStorage
internal import SystemCalls

/// Appending under the log's lock: brings state and entries together first, then adds to them.
///
/// One entry at a time: it is on the disk before the state says so, and the state before the next one is written. So
/// after a kill at most one entry is ahead of its state, and it proves itself.
struct LogSession: ~Copyable {
    private let home: HomeDirectory
    private let file: LogStateFile
    private var state: LogState
    private var key: LogKey
    /// The public key that entries are sealed to.
    private var recipient: LogState.Recipient
    /// The segment that is written, once it was found to be what the state says.
    private var segment: DurableFile?
    private let bootID: [UInt8]
    /// Entries after which another segment begins.
    var entriesPerSegment = LogFormat.entriesPerSegment
    /// Set when the state could not be written: nothing more is added then.
    private(set) var stateFailure: VaultError?

    /// Opens the log for appending.
    /// - Throws: `damaged` when there is no state to continue from.
    init(_ file: LogStateFile, in home: HomeDirectory, bootID: [UInt8]) throws(VaultError) {
        guard let state = file.state, let recipient = state.recipient, let key = file.takeKey() else { throw .logLost }
        self.recipient = recipient
        self.state = state
        self.key = key
        self.file = file
        self.home = home
        self.bootID = bootID
    }

    /// Begins a chain, whose first entry is the only one of its segment.
    init(
        chain: LogChain, key: consuming LogKey, recipient: LogState.Recipient, file: LogStateFile,
        in home: HomeDirectory, vault: VaultID, first event: SecurityEvent, at moment: LogMoment
    ) throws(VaultError) {
        self.recipient = recipient
        state = LogState(
            kind: .live, vault: vault, chain: chain, first: 0, next: 0, bootID: moment.bootID, recipient: recipient)
        self.key = key
        self.file = file
        self.home = home
        bootID = moment.bootID
        // Whole on the disk before the state is of it, and in its place after that: the next start completes what a
        // kill in between left.
        let slot = try seal(event, at: moment)
        let front = LogFront(vault: vault, chain: chain, first: 0, epoch: recipient.epoch)
        try LogSegment.prepare(in: home, front: front, slot: slot)
        try advance(past: slot)
        try file.write(state, key: self.key)
        try LogSegment.putInPlace(in: home)
        segment = try home.openFile(LogSegment.name, O_RDWR)
    }

    /// The segment that is written and what it has: for the chain that comes after it.
    var end: (link: LogLink, next: UInt64, size: UInt64) {
        (LogLink(chain: state.chain, first: state.first), state.next, state.offset)
    }

    /// Whether entries are sealed to this key.
    borrowing func isSealing(to keys: LogEpochKey) -> Bool { recipient == keys.recipient }

    /// Whether the chain accepts more entries; a state at its end is full, or was not written by us.
    var hasRoom: Bool { state.next < LogFormat.mostEntries }

    /// Whether this is a chain of that key, and the state's key the one of its place.
    borrowing func isOf(_ keys: LogEpochKey) throws(VaultError) -> Bool {
        var expected = try keys.first(of: state.chain)
        try expected.evolve(by: state.next)
        return expected.isEqual(to: key)
    }

    /// The state had a foreign public key: from here on entries are sealed to the vault's, and the first one says so.
    mutating func replaceRecipient(by keys: LogEpochKey, at moment: LogMoment) throws(VaultError) {
        recipient = keys.recipient
        state.recipient = recipient
        let replaced = LogAlteration(kind: .keyReplaced, previous: nil, position: state.next)
        try write(.altered(replaced), at: moment)
    }

    // MARK: bringing state and entries together

    /// Makes the log ready for the next entry. What is not as the last writer left it goes into a segment that is set
    /// aside, and the first entry of the new one says so.
    mutating func reconcile(at moment: LogMoment) throws(VaultError) {
        try LogSegment.resume(in: home, for: state)
        let known = state.next
        if let alteration = try findAlteration() {
            return try beginSegment(.altered(alteration), at: moment)
        }
        let isSameBoot = state.bootID == bootID && bootID.contains { $0 != 0 }
        if state.next > known + 1 && isSameBoot {
            let behind = LogAlteration(kind: .stateBehind, previous: nil, position: known)
            try write(.altered(behind), at: moment)
        }
    }

    /// - Returns: What is wrong with the newest segment; nil when an entry can be added to it.
    private mutating func findAlteration() throws(VaultError) -> LogAlteration? {
        guard let log = try openSegment() else {
            let link = LogLink(chain: state.chain, first: state.first)
            return alteration(.missing, state.next > state.first ? link : nil, state.first)
        }
        let size = try log.status().size
        guard let front = try LogSegment.front(of: log), front.vault == state.vault, front.chain == state.chain else {
            return try mendFront(log, size)
        }
        if front.first == state.next && front.first > state.first {
            state.first = front.first  // a new segment, whose writer was killed before it wrote the state
            state.tail = [UInt8](repeating: 0, count: LogFormat.tagSize)
        }
        guard front.first == state.first else {
            let isBehind = front.first > state.next
            return isBehind ? alteration(.stateBehind, front.link, state.next) : replaced(by: front)
        }
        guard size >= state.offset else {
            return alteration(.cut, front.link, front.first + max(1, size / UInt64(LogFormat.slotSize)) - 1)
        }
        guard try tailIsRight(log) else { return alteration(.changed, front.link, state.next - 1) }
        guard try rollForward(log, size) else { return alteration(.extended, front.link, state.next) }
        segment = consume log
        return nil
    }

    private func alteration(_ kind: LogAlteration.Kind, _ link: LogLink?, _ position: UInt64) -> LogAlteration {
        LogAlteration(kind: kind, previous: link, position: position)
    }

    private func openSegment() throws(VaultError) -> DurableFile? {
        do throws(VaultError) {
            return try home.openFile(LogSegment.name, O_RDWR)
        } catch let error where error.code == .damaged {
            return nil  // a link or a pipe under its name is not the log
        }
    }

    private borrowing func tailIsRight(_ log: borrowing DurableFile) throws(VaultError) -> Bool {
        guard state.next > state.first else { return true }
        let tail = try log.read(LogFormat.tagSize, at: Int(state.offset) - LogFormat.tagSize)
        return tail == state.tail
    }

    /// The entries may be right behind a front that is not: it can be made again from the state.
    private mutating func mendFront(
        _ log: borrowing DurableFile, _ size: UInt64
    ) throws(VaultError) -> LogAlteration? {
        let found = try LogSegment.front(of: log)
        guard found == nil, state.next > state.first, size >= state.offset, try tailIsRight(log) else {
            return replaced(by: found)
        }
        let front = LogFront(vault: state.vault, chain: state.chain, first: state.first, epoch: recipient.epoch)
        try log.write(front.encoded(checksum: FileChecksum.of), at: 0)
        try log.synchronize()
        return replaced(by: front)
    }

    /// What must be in the previous segment is what the state knew; a chain without entries was only being begun.
    private func replaced(by found: LogFront?) -> LogAlteration {
        let known = LogLink(chain: state.chain, first: state.first)
        return alteration(.replaced, state.next > state.first ? known : found?.link, state.first)
    }

    /// Takes up entries that prove themselves under the state's key, and drops one that was cut short.
    /// - Returns: False when something else stands behind the newest entry.
    private mutating func rollForward(_ log: borrowing DurableFile, _ size: UInt64) throws(VaultError) -> Bool {
        while true {
            let rest = size - min(size, state.offset)
            guard rest > 0 else { return true }
            let slot = try log.read(LogFormat.slotSize, at: Int(state.offset))
            let isNext = slot.withRawSpan { slot in
                key.proves(slot, at: state.next, vault: state.vault, chain: state.chain)
            }
            if isNext {
                try advance(past: slot)
                continue
            }
            // Of a slot that was never flushed, a power cut may leave its place with anything in it or zeros.
            // A slot that crosses two of the disk's blocks may have its end alone: no index then.
            let index = LogSession.index(of: slot)
            let isTorn = slot.count < LogFormat.slotSize || index == state.next || index == 0
            guard rest <= UInt64(LogFormat.slotSize), isTorn else { return false }
            try log.truncate(to: state.offset)
            return true
        }
    }

    private static func index(of slot: [UInt8]) -> UInt64? { slot.withRawSpan { $0.integer(at: 0, as: UInt64.self) } }

    private mutating func advance(past slot: [UInt8]) throws(VaultError) {
        state.next += 1
        state.tail = Array(slot.suffix(LogFormat.tagSize))
        try key.evolve()
    }

    // MARK: adding

    /// Adds one event, and before it what is still owed.
    /// - Parameter waits: Whether the state is on the disk when this returns.
    mutating func record(_ event: SecurityEvent, at moment: LogMoment, waits: Bool = true) throws(VaultError) {
        if let run = state.run {
            state.run = nil
            if !run.run.isWritten(run.kind) { try write(.runEnded(run.run), at: run.last) }
        }
        try write(event, at: moment, waits: waits)
    }

    /// Adds one of the events that come in runs; those without an entry of their own change the state only.
    mutating func record(_ kind: UnprovenEvent, at moment: LogMoment) throws(VaultError) {
        if kind.isToldOnce && state.run?.kind == kind { return }
        var run = state.run?.run ?? LogRun(since: moment.time)
        run.add(kind)
        state.run = LogState.Run(run: run, kind: kind, last: moment)
        if run.isWritten(kind) {
            try write(.unproven(kind, run), at: moment)
        } else {
            try save(waits: true)
            if let stateFailure { throw stateFailure }
        }
    }

    /// Appends an entry, durably, and then lets its key go.
    private mutating func write(_ event: SecurityEvent, at moment: LogMoment, waits: Bool = true) throws(VaultError) {
        if let stateFailure { throw stateFailure }
        guard state.next < LogFormat.mostEntries else {
            throw VaultError(.tooLarge, "the security log has no room for more entries")
        }
        if state.next - state.first >= entriesPerSegment {
            try beginSegment(.rotated(previous: LogLink(chain: state.chain, first: state.first)), at: moment)
            if let stateFailure { throw stateFailure }
        }
        guard segment != nil else { throw .damaged("the security log is not open") }
        let slot = try seal(event, at: moment)
        let offset = state.offset
        do throws(VaultError) {
            try segment?.write(slot, at: offset)
            try segment?.synchronize()
        } catch {
            // It must not come to light later as an entry that was never said to be written.
            try? segment?.truncate(to: offset)
            throw error
        }
        try advance(past: slot)
        try save(waits: waits)
    }

    private func seal(_ event: SecurityEvent, at moment: LogMoment) throws(VaultError) -> [UInt8] {
        let entry = LogEntry(moment: moment, event: event)
        let point = try crypto(unsafe P256PublicKey(compressed: recipient.point.span.bytes))
        return try key.seal(entry, at: state.next, vault: state.vault, chain: state.chain, to: point)
    }

    /// A new segment with this first entry.
    private mutating func beginSegment(_ event: SecurityEvent, at moment: LogMoment) throws(VaultError) {
        let slot = try seal(event, at: moment)
        let front = LogFront(vault: state.vault, chain: state.chain, first: state.next, epoch: recipient.epoch)
        try LogSegment.replace(in: home, front: front, slot: slot)
        segment = try home.openFile(LogSegment.name, O_RDWR)
        state.first = state.next
        try advance(past: slot)
        try save(waits: true)
    }

    /// The entry is written already: a state that cannot follow is no reason to call it lost.
    private mutating func save(waits: Bool) throws(VaultError) {
        state.bootID = bootID
        do throws(VaultError) {
            try file.write(state, key: key, waits: waits)
        } catch { stateFailure = error }
    }
}
