internal import Synchronization
package import VaultFormat
internal import VaultStorage
internal import SystemCalls

extension SecurityLog {
    /// What can be told about the log without its keys.
    package struct Status {
        package let entries: UInt64?
        package let problem: String?
        package let missedEvents: Int
    }

    /// Looks at the files without keys and without writing.
    package func status() -> Status {
        var entries: UInt64?
        var problem: String?
        do throws(VaultError) {
            let file = try LogStateFile.open(.reading, in: home, vault: vault, patience: 200)
            entries = file?.state?.next
            problem = try look(file?.state)
        } catch { problem = error.reason }
        if problem == nil { problem = self.problem?.reason }
        return Status(entries: entries, problem: problem, missedEvents: missedEvents)
    }

    private func look(_ state: LogState?) throws(VaultError) -> String? {
        guard let state else {
            return home.exists(LogSegment.name) || home.exists(LogStateFile.name)
                ? "its state is lost; it begins anew at the next unlock" : "there is none; it begins at the next unlock"
        }
        guard state.kind == .live else { return "this is a copy; it begins anew at the next unlock" }
        guard let log = try home.openFile(LogSegment.name, O_RDONLY) else {
            return home.exists(LogSegment.newName) ? nil : "its newest part is missing"
        }
        let front = try LogSegment.front(of: log)
        let isOurs =
            front.map { $0.chain == state.chain && ($0.first == state.first || $0.first == state.next) } ?? false
        guard isOurs, try log.status().size >= state.offset || front?.first == state.next else {
            return "it is not as it was written"
        }
        for name in [LogSegment.name, LogStateFile.name] where !home.mayWrite(name) {
            return "\(name) cannot be written"
        }
        return nil
    }

    /// What is appended from now on.
    package func events() -> AsyncStream<LogEntry> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LogEntry.self, bufferingPolicy: .bufferingNewest(256))
        let number = memory.withLock { memory in
            memory.nextObserver += 1
            memory.observers[memory.nextObserver] = continuation
            return memory.nextObserver
        }
        continuation.onTermination = { [weak self] _ in
            self?.memory.withLock { _ = $0.observers.removeValue(forKey: number) }
        }
        return stream
    }

    func tell(_ event: SecurityEvent, _ moment: LogMoment) {
        let observers = memory.withLock { Array($0.observers.values) }
        guard !observers.isEmpty else { return }
        let entry = LogEntry(moment: moment, event: event)
        for observer in observers { observer.yield(entry) }
    }
}

extension HomeDirectory {
    /// Whether the disk and the file's mode let us write.
    func mayWrite(_ name: String) -> Bool { unsafe faccessat(descriptor, name, W_OK, AT_EACCESS) == 0 }
}

extension SecurityLog {
    /// What the state says that this home is; nil where there is none that can be read.
    package var stateKind: LogState.Kind? {
        do throws(VaultError) {
            return try LogStateFile.open(.reading, in: home, vault: vault, patience: 200)?.state?.kind
        } catch { return nil }
    }
}
