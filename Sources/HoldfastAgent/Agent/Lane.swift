internal import DeviceOwner
internal import SecretMemory
internal import Synchronization
internal import SystemCalls

/// Threads for work that blocks. They are made when there is work and go when there is none: at rest there is no
/// thread, no stack and nothing to wake.
///
/// The outcome of a job is told when everything that the job knew has gone from memory.
final class Lane: Sendable {
    /// - Returns: What is told of it, if anything.
    typealias Work = @Sendable () -> Completion?

    /// What waits for jobs to end.
    enum Awaited: Sendable {
        /// A lock is over when those have ended that were begun before it: they know what is in the vault.
        case byLock
        /// Only the end of the agent waits.
        case byEnd
        case byNothing
    }

    private struct State {
        var waiting: [Job] = []
        /// Those that wait, and those that run.
        var jobs = 0
        var running = 0
    }

    private let state = Mutex(State())
    private let threads: Int
    private let longestQueue: Int
    private let completions: Completions
    private let awaited: Awaited

    /// - Parameters:
    ///   - threads: At once.
    ///   - queue: Jobs that wait for one.
    ///   - completions: Where the outcome is told.
    init(threads: Int, queue: Int, _ completions: Completions, awaited: Awaited = .byLock) {
        self.threads = threads
        longestQueue = queue
        self.completions = completions
        self.awaited = awaited
    }

    /// - Returns: False when too much is waiting, or no thread can be had.
    func submit(_ work: @escaping Work) -> Bool {
        enum Next { case start, wait, refuse }
        let job = completions.begin(awaited, work)
        let next = state.withLock { state -> Next in
            guard state.jobs < threads + longestQueue else { return .refuse }
            state.jobs += 1
            state.waiting.append(job)
            guard state.running < threads else { return .wait }
            state.running += 1
            return .start
        }
        switch next {
        case .wait: return true
        case .refuse: break
        case .start:
            if DetachedThread.start({ [self] in run() }) { return true }
            let isTaken = state.withLock { state in
                state.running -= 1
                // Another thread takes it, or has taken it.
                guard state.running == 0, let index = state.waiting.firstIndex(where: { $0 === job }) else {
                    return true
                }
                state.waiting.remove(at: index)
                state.jobs -= 1
                return false
            }
            if isTaken { return true }
        }
        completions.withdraw(job)
        return false
    }

    private func run() {
        while true {
            let next = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
            next?.run()
            WorkingMemory.wipeAll()  // the next job is for another client, or the stack waits for another thread
            let isLast = state.withLock { state in
                if next != nil { state.jobs -= 1 }
                guard state.waiting.isEmpty else { return false }
                state.running -= 1
                return true
            }
            if let next { completions.end(next) }
            if isLast { return }
        }
    }
}

/// Work for a thread, and then what is told of it. Each can be taken out once; only the caller that took it out has it.
final class Job: Sendable {
    let number: UInt64
    private let work: Mutex<Lane.Work?>
    private let told = Mutex<Completion?>(nil)

    init(_ number: UInt64, _ work: Lane.Work?) {
        self.number = number
        self.work = Mutex(work)
    }

    /// Does it. What it knew, except for what is told, is gone when this returns.
    func run() {
        let work = self.work.withLock { work in
            defer { work = nil }
            return work
        }
        let completion = work?()
        told.withLock { $0 = completion }
    }

    func take() -> Completion? {
        told.withLock { told in
            defer { told = nil }
            return told
        }
    }
}
