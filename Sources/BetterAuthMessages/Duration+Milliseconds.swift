extension Duration {
    /// Whole milliseconds, rounded towards zero; the furthest that there is where they are too many.
    package var clampedMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        guard !isTooLong else { return seconds < 0 ? .min : .max }
        let (sum, isOver) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return isOver ? (seconds < 0 ? .min : .max) : sum
    }
}
