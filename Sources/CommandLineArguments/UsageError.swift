/// Something on the command line, or in a file that it names, cannot be used.
package struct UsageError: Error, CustomStringConvertible {
    package let description: String
    /// Whether it may go away by itself: a file that cannot be read now, on a disk that is not mounted yet for example.
    package let mayPass: Bool

    package init(_ description: String, mayPass: Bool = false) {
        self.description = description
        self.mayPass = mayPass
    }
}
