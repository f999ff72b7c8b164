package import VaultCore

extension BootInstant {
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
