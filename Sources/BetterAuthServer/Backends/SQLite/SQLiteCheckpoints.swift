internal import Synchronization
internal import SystemCalls

/// Brings the log into the file beside the commits, which continue meanwhile.
///
/// That alone would never end under load: there is always another commit behind. So once the bulk is done the writer
/// does the little that came since, and its next commit begins the log anew. Where the disk or the processor is slower
/// than the commits, they wait for it: the log never has more than ``most`` pages and those of one commit.
final class SQLiteCheckpoints: Sendable {
    private enum State {
        case idle
        case running
        /// The bulk is in the file.
        case done
    }

    private let path: String
    private let threshold: Int
    private let before: @Sendable () -> Void
    private let requests = WaitingQueue<Void>()
    private let state = Monitor(State.idle)

    /// Pages in the log at which commits wait.
    private var most: Int { 8 * threshold }

    /// - Parameters:
    ///   - threshold: Pages in the log from which it is brought into the file.
    ///   - before: Done by the thread before it begins.
    init(_ path: String, threshold: Int, before: @escaping @Sendable () -> Void = {}) {
        self.path = path
        self.threshold = max(threshold, 1)
        self.before = before
    }

    /// Nil when no thread can be had.
    func start() -> JoinableThread? {
        JoinableThread { [self] in
            while requests.takeFirst() != nil {
                before()
                // A connection of its own, which sees nothing but pages.
                if let connection = try? SQLiteConnection(path, isWriter: true, cache: 64) {
                    _ = try? connection.checkpoint()
                }
                state.withLock { $0 = .done }
                state.wakeAll()
            }
        }
    }

    /// Called by the writer after each commit.
    func committed(_ writer: SQLiteWriter) {
        let pages = writer.logPages
        let isDone = state.withLock(when: { [most] state in state != .running || pages < most }) { state in
            if state == .done {
                state = .idle
                return true
            }
            if state == .idle && pages >= threshold {
                state = .running
                _ = requests.add(())
            }
            return false
        }
        if isDone { _ = try? writer.checkpoint() }
    }

    func close() { requests.close() }
}
