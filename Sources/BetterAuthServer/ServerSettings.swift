package import BetterAuthMessages
internal import SystemCalls

/// How long things are valid, in seconds (protocol.md 6.3).
package struct Lifetimes: Sendable, Hashable {
    /// Of an access token, for access.
    package var access: Int64 = 900
    /// Of a session, from its beginning: no refresh beyond it.
    package var refresh: Int64 = 43_200
    /// Of a challenge.
    package var challenge: Int64 = 60
    /// How long a byte-identical repeat of an operation gets its reply again.
    package var reply: Int64 = 300

    package init() {}
}

/// Where the server takes the time from. Wall time, since tokens name moments.
package protocol ServerClock: Sendable {
    var now: Timestamp { get }
    /// Milliseconds from any moment on, by a clock that nobody sets.
    var running: Int64 { get }
}

extension ServerClock {
    package var running: Int64 { Int64(clamping: SuspendAwareClock.milliseconds) }
}

/// The system's clock.
package struct SystemClock: ServerClock {
    package init() {}

    package var now: Timestamp { Timestamp(clamping: WallClock.milliseconds) }
}

extension Timestamp {
    /// Later by some seconds, at most the last moment that there is.
    package func adding(seconds: Int64) -> Timestamp {
        let (more, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return (overflow ? nil : adding(milliseconds: more)) ?? Timestamp(clamping: .max)
    }
}
