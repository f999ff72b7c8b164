internal import DeviceOwner
internal import SecretMemory
internal import Synchronization
internal import SystemCalls

/// Threads for work that blocks. They are made when there is work and go when there is none: at rest there is no thread,
/// no stack and nothing to wake.
final class Lane: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        var waiting: [Job] = []
        var running = 0
    }

    private let state = Mutex(State())
    private let threads: Int
    private let longestQueue: Int

    /// - Parameters:
    ///   - threads: At once.
    ///   - queue: Jobs that wait for one.
    init(threads: Int, queue: Int) {
        self.threads = threads
        longestQueue = queue
    }

    /// Whether nothing runs or waits.
    var isIdle: Bool { state.withLock { $0.running == 0 } }

    /// - Returns: False when too much is waiting, or no thread can be had.
    func submit(_ job: @escaping Job) -> Bool {
        enum Next { case start, wait, refuse }
        let next = state.withLock { state -> Next in
            if state.running < threads {
                state.running += 1
                return .start
            }
            guard state.waiting.count < longestQueue else { return .refuse }
            state.waiting.append(job)
            return .wait
        }
        switch next {
        case .wait: return true
        case .refuse: return false
        case .start: break
        }
        if DetachedThread.start({ [self] in work(job) }) { return true }
        state.withLock { $0.running -= 1 }
        return false
    }

    private func work(_ first: Job) {
        var job = first
        while true {
            job()
            WorkingMemory.wipeAll()  // the next job is for another client, or the stack waits for another thread
            let next = state.withLock { state -> Job? in
                if state.waiting.isEmpty {
                    state.running -= 1
                    return nil
                }
                return state.waiting.removeFirst()
            }
            guard let next else { return }
            job = next
        }
    }
}
