extension LockTiming {
    /// After 5 seconds in the background.
    package static let fiveSeconds = LockTiming.after(seconds: 5)
    /// After 15 seconds in the background.
    package static let fifteenSeconds = LockTiming.after(seconds: 15)
    /// After a minute in the background.
    package static let oneMinute = LockTiming.after(seconds: 60)
    /// After five minutes in the background.
    public static let fiveMinutes = LockTiming.after(seconds: 5 * 60)
    /// After half an hour in the background.
    package static let thirtyMinutes = LockTiming.after(seconds: 30 * 60)

    /// What a settings screen offers, strictest first.
    package static let presets: [LockTiming] = [
        .immediately, .fiveSeconds, .fifteenSeconds, .oneMinute, .fiveMinutes, .thirtyMinutes, .onRelaunch, .never,
    ]
}
