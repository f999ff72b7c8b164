internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

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
        if Lane.start({ [self] in work(job) }) { return true }
        state.withLock { $0.running -= 1 }
        return false
    }

    private func work(_ first: Job) {
        var job = first
        while true {
            job()
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

    private final class Start {
        let job: Job
        init(_ job: @escaping Job) { self.job = job }
    }

    private static func start(_ job: @escaping Job) -> Bool {
        #if canImport(Glibc)
        var thread: pthread_t = 0
        #else
        var thread: pthread_t?
        #endif
        let start = unsafe Unmanaged.passRetained(Start(job))
        let error = unsafe pthread_create(
            &thread, nil,
            { argument in
                #if canImport(Glibc)
                guard let argument = unsafe argument else { return nil }
                #endif
                unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().job()
                return nil
            }, start.toOpaque())
        guard error == 0 else {
            unsafe start.release()
            return false
        }
        #if canImport(Glibc)
        pthread_detach(thread)
        #else
        if let thread { pthread_detach(thread) }
        #endif
        return true
    }
}
