public import BetterAuthMessages
internal import SystemCalls

extension Timestamp {
    /// The system's time in UTC, which anybody may set.
    public static var now: Timestamp {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(clamping: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
