internal import Synchronization
internal import SystemCalls

/// Brings the log into the file beside the commits, which go on meanwhile.
///
/// That alone would never end under load: there is always another commit behind. So once the bulk is done the writer
/// does the little that came since, and its next commit begins the log anew.
final class SQLiteCheckpoints: Sendable {
    private enum State {
        case idle
        case running
        /// The bulk is in the file.
        case done
    }

    private let path: String
    private let threshold: Int
    private let requests = WaitingQueue<Void>()
    private let state = Mutex(State.idle)

    init(_ path: String, threshold: Int) {
        self.path = path
        self.threshold = max(threshold, 1)
    }

    /// Nil when no thread can be had.
    func start() -> JoinableThread? {
        JoinableThread { [self] in
            while requests.takeFirst() != nil {
                // A connection of its own, which sees nothing but pages.
                if let connection = try? SQLiteConnection(path, isWriter: true, cache: 64) {
                    _ = try? connection.checkpoint()
                }
                state.withLock { $0 = .done }
            }
        }
    }

    /// Called by the writer after each commit.
    func committed(_ writer: SQLiteWriter) {
        let isDone = state.withLock { state in
            if state == .done {
                state = .idle
                return true
            }
            if state == .idle && writer.logPages >= threshold {
                state = .running
                _ = requests.add(())
            }
            return false
        }
        if isDone { _ = try? writer.checkpoint() }
    }

    func close() { requests.close() }
}
