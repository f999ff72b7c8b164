/// Something on the command line, or in a file that it names, cannot be used.
package struct UsageError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
