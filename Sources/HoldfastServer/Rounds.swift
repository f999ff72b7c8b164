internal import Synchronization
internal import SystemCalls

/// What a server does again and again and waits for others with: on a thread of its own, so that signals, readiness and
/// the service manager never wait for it.
final class Rounds: Sendable {
    private struct State {
        var isUnderWay = false
        var ended = 0
    }

    private let state = Mutex(State())
    private let round: @Sendable () -> Void

    init(_ round: @escaping @Sendable () -> Void) { self.round = round }

    /// Begins a round, unless one is under way. Its end wakes ``Signals/wait(seconds:)``.
    func begin() {
        let isFree = state.withLock { state in
            defer { state.isUnderWay = true }
            return !state.isUnderWay
        }
        guard isFree else { return }
        let isBegun = DetachedThread.start { [self] in
            round()
            state.withLock { state in
                state.isUnderWay = false
                state.ended += 1
            }
            Signals.wake()
        }
        // The next one may get a thread.
        if !isBegun { state.withLock { $0.isUnderWay = false } }
    }

    /// Begins a round every few seconds, until the server is asked to stop.
    func run(every seconds: Int) {
        var due = MonotonicClock.seconds + Double(seconds)
        while !Signals.stops(within: seconds) {
            guard MonotonicClock.seconds >= due else { continue }
            due = MonotonicClock.seconds + Double(seconds)
            begin()
        }
    }

    /// Waits a moment for a round that is under way: a process does not end while it does something.
    func finish() {
        let end = MonotonicClock.seconds + 1
        while state.withLock({ $0.isUnderWay }), MonotonicClock.seconds < end { usleep(5000) }
    }

    /// Begins the first round, and waits a while for its end.
    /// - Returns: False when the server was asked to stop meanwhile.
    func first(seconds: Double) -> Bool {
        begin()
        let end = MonotonicClock.seconds + seconds
        var reloads = false
        while state.withLock({ $0.ended }) == 0, MonotonicClock.seconds < end {
            switch Signals.wait(seconds: 1) {
            case .stop: return false
            case .reload: reloads = true
            case .goOn, nil: break
            }
        }
        // Nothing can be reloaded yet: who waits for signals next does it.
        if reloads { Signals.askForReload() }
        return true
    }
}
