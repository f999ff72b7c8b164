package import VaultCore

extension BootInstant {
    /// How long after an earlier instant this one is; nil when the two do not compare: another boot, or the wrong order.
    package func duration(since earlier: BootInstant) -> Duration? {
        milliseconds(since: earlier).map { .milliseconds($0) }
    }

    /// A later instant of the same boot, whole milliseconds later, rounded up; this one for a duration below zero.
    package func advanced(by duration: Duration) -> BootInstant {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return self }
        let (whole, isTooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1000)
        let part = UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        let (sum, isOver) = whole.addingReportingOverflow(part)
        return advanced(byMilliseconds: isTooLong || isOver ? .max : sum)
    }

    /// Milliseconds from an earlier instant; nil when the two do not compare: another boot, or the wrong order.
    package func milliseconds(since earlier: BootInstant) -> UInt64? {
        guard bootID == earlier.bootID, milliseconds >= earlier.milliseconds else { return nil }
        return milliseconds - earlier.milliseconds
    }

    /// A later instant of the same boot.
    package func advanced(byMilliseconds more: UInt64) -> BootInstant {
        BootInstant(
            bootID: bootID,
            milliseconds: milliseconds.addingReportingOverflow(more).overflow
                ? .max : milliseconds + more)
    }

    /// A later instant of the same boot.
    package func advanced(bySeconds seconds: UInt32) -> BootInstant { advanced(byMilliseconds: UInt64(seconds) * 1000) }
}
