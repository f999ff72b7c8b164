internal import BetterAuthMessages
internal import Synchronization
internal import SystemCalls

/// Whether the server can do its work now, proven by doing some of it. However often it is asked, the work is done at a
/// bounded rate: a question that comes meanwhile gets the answer of the last time, or waits for the one under way.
///
/// The work has a thread of its own. It waits for databases and files, and a thread that a database completes work on,
/// or one that reads requests, must not: a check that waits for the database's writer on that writer waits for ever.
package final class Readiness: Sendable {
    /// One thing to be proven.
    package struct Check: Sendable {
        let subject: String
        let run: @Sendable () -> String?

        /// - Parameters:
        ///   - subject: What, in a word of ours.
        ///   - run: Nil when it is good, and otherwise why not. It may wait.
        package init(_ subject: String, _ run: @escaping @Sendable () -> String?) {
            self.subject = subject
            self.run = run
        }
    }

    private struct State {
        var asked = -Double.infinity
        var failing: [String]?
        var waiting: [@Sendable ([String]) -> Void] = []
        var isUnderWay = false
    }

    private let checks: [Check]
    private let seconds: Double
    private let conditions: Conditions
    private let state = Mutex(State())
    private let pool = WorkerPool(1)

    /// - Parameter seconds: For which an answer holds.
    package init(_ checks: [Check], seconds: Double = 1, conditions: Conditions) {
        self.checks = checks
        self.seconds = seconds
        self.conditions = conditions
    }

    /// Ends its thread, once it has answered.
    package func close() { pool.close() }

    /// Asks.
    /// - Parameter answer: Called once, from any thread, with the subjects that fail.
    package func ask(now: Double = MonotonicClock.seconds, _ answer: @escaping @Sendable ([String]) -> Void) {
        enum Step { case known([String]), begin, wait }
        let step: Step = state.withLock { state in
            if !state.isUnderWay, now - state.asked < seconds, let failing = state.failing { return .known(failing) }
            state.waiting.append(answer)
            guard !state.isUnderWay else { return .wait }
            state.isUnderWay = true
            state.asked = now
            return .begin
        }
        switch step {
        case .known(let failing): answer(failing)
        case .wait: break
        case .begin: if !pool.run({ [self] in run() }) { end(["stopping"]) }
        }
    }

    /// Whether nothing failed the last time; false before the first.
    var isReady: Bool { state.withLock { $0.failing?.isEmpty ?? false } }

    /// Whether a check has not ended for this long.
    func isStuck(seconds: Double, now: Double = MonotonicClock.seconds) -> Bool {
        state.withLock { $0.isUnderWay && now - $0.asked > seconds }
    }

    /// One check after the other.
    private func run() {
        var failing: [String] = []
        for check in checks {
            if let reason = check.run() {
                conditions.fail(check.subject, reason)
                failing.append(check.subject)
            } else {
                conditions.recover(check.subject)
            }
        }
        end(failing)
    }

    private func end(_ failing: [String]) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isUnderWay = false
            state.failing = failing
            return state.waiting
        }
        for answer in waiting { answer(failing) }
    }

    /// What the reply of `/ready` says.
    static func reply(_ failing: [String]) -> HTTPReply {
        guard !failing.isEmpty else { return .text("ready\n") }
        let code = ErrorCode.unavailable
        let names = failing.map(ServerLog.quoted).joined(separator: ",")
        let body =
            #"{"error":{"code":"\#(code.rawValue)","message":"the server is not ready","context":{"failing":[\#(names)]}}}"#
        return HTTPReply(status: code.httpStatus, .json, Array(body.utf8), code: code)
    }
}
