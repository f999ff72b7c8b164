package import SystemCalls

/// How long a test waits for what should have come long ago. It bounds a run that hangs and measures nothing: on a
/// machine whose cores are ten times too busy every test still comes to its end. The one place of it (checked by
/// scripts/check-layout).
package enum Patience {
    package static let seconds: Int32 = 600

    /// For `poll`.
    package static let milliseconds = seconds * 1000

    /// For `SO_RCVTIMEO`.
    package static let interval = timeval(tv_sec: Int(seconds), tv_usec: 0)

    /// Asks again and again for what another process brings about; there is nothing of it to wait on.
    /// - Returns: Whether it came.
    package static func wait(until isThere: () throws -> Bool) rethrows -> Bool {
        let end = ContinuousClock.now + .seconds(Int(seconds))
        while try !isThere() {
            guard ContinuousClock.now < end else { return false }
            usleep(5000)
        }
        return true
    }
}
