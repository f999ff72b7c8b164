public import BetterAuthMessages
internal import SystemCalls

extension Timestamp {
    /// The system's time in UTC, which anybody may set.
    public static var now: Timestamp { Timestamp(clamping: WallClock.milliseconds) }
}
