internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Looks at several parts at once, each for as long as it may take. A part that does not answer holds up neither the
/// others nor the end: its thread is left behind, and goes with the process.
enum Examination {
    /// One part, and how it is looked at.
    struct Part: Sendable {
        /// Its name, should it give no answer.
        let name: String
        let fix: String
        let look: @Sendable () -> Finding
    }

    /// Milliseconds for all of it.
    static let patience: UInt64 = 4000

    /// - Returns: One finding for each part, in their order.
    static func run(_ parts: [Part]) -> [Finding] {
        let board = Board(parts.count)
        for (index, part) in parts.enumerated() {
            let isStarted = Thread.start { board.set(index, part.look()) }
            if !isStarted { board.set(index, part.look()) }
        }
        board.wait(until: MonotonicClock.now() + patience * 1_000_000)
        return zip(parts, board.findings).map { part, finding in
            finding ?? Finding(part: part.name, state: .slow, words: "gave no answer in time", fix: part.fix)
        }
    }

    /// What has been found so far.
    private final class Board: Sendable {
        private let state: Mutex<[Finding?]>

        init(_ count: Int) { state = Mutex([Finding?](repeating: nil, count: count)) }

        func set(_ index: Int, _ finding: Finding) { state.withLock { $0[index] = finding } }

        var findings: [Finding?] { state.withLock { $0 } }

        /// Looks again every few milliseconds: whoever answers late has nobody to wake.
        func wait(until deadline: UInt64) {
            while findings.contains(where: { $0 == nil }), MonotonicClock.now() < deadline { usleep(2000) }
        }
    }

    private enum Thread {
        private final class Start {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }

        static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
            #if canImport(Glibc)
            var thread: pthread_t = 0
            #else
            var thread: pthread_t?
            #endif
            let start = unsafe Unmanaged.passRetained(Start(body))
            let error = unsafe pthread_create(
                &thread, nil,
                { argument in
                    #if canImport(Glibc)
                    guard let argument = unsafe argument else { return nil }
                    #endif
                    unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
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
}
