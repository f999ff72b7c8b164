/// The `errno` of a system call that failed.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    /// The error of the last system call on this thread.
    package static var last: SystemError { SystemError(errno) }

    /// The system's words.
    package var description: String { unsafe String(cString: strerror(number)) }
}

/// Calls again while a signal interrupts the call.
/// - Parameter call: A system call that returns a negative number when it fails.
/// - Returns: What it returned, never negative.
/// - Throws: Its ``SystemError``, never `EINTR`.
@discardableResult
package func uninterrupted<Result: SignedInteger>(_ call: () -> Result) throws(SystemError) -> Result {
    while true {
        let result = call()
        if result >= 0 { return result }
        guard errno == EINTR else { throw .last }
    }
}
