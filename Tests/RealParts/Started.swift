import Foundation
import Synchronization

/// What a test has started: processes, and the folder that they work in. Ended and removed once: with the object that
/// started them, or when this process ends, where something still runs that keeps that object.
final class Started: Sendable {
    private struct State {
        var processes: [Spawned] = []
        var isEnded = false
    }

    private let folder: String
    private let signal: Int32
    private let state = Mutex(State())

    /// - Parameters:
    ///   - folder: Which is there from now on.
    ///   - signal: That ends the processes.
    init(in folder: String, endingWith signal: Int32 = SIGTERM) {
        (self.folder, self.signal) = (folder, signal)
        Started.there.withLock { there in
            if there == nil {
                atexit { for started in Started.there.withLock({ $0 ?? [] }).reversed() { started.end() } }
            }
            there = (there ?? []) + [self]
        }
    }

    /// Those that have not ended; nil before the first.
    private static let there = Mutex<[Started]?>(nil)

    func add(_ process: Spawned) { state.withLock { $0.processes.append(process) } }

    /// Whoever comes second waits for who came first: no process ends while its part is half gone.
    func end() {
        state.withLock { state in
            guard !state.isEnded else { return }
            // The first one last: the others are its clients and would complain.
            for process in state.processes.reversed() { process.end(signal) }
            try? FileManager.default.removeItem(atPath: folder)
            state.isEnded = true
        }
        Started.there.withLock { $0?.removeAll { $0 === self } }
    }
}
