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

/// What a path's text tells.
package enum Paths {
    /// The folder that a file lies in, as a path: "." for a name alone.
    package static func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// Where a link leads, as it says itself; nil for anything else.
    package static func target(ofLink path: String) -> String? {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(PATH_MAX)) { buffer in
            guard let base = buffer.baseAddress else { return nil }
            let count = unsafe readlink(path, base, buffer.count)
            guard count > 0 else { return nil }
            return unsafe String(validating: buffer.prefix(count), as: UTF8.self)
        }
    }

    /// The first part of a path that is a link to what is not there, and where it leads; nil where there is none. The
    /// system says of such a path that it is not there, and who makes it then would write somewhere else.
    package static func danglingLink(in path: String) -> (link: String, target: String)? {
        var end = path.startIndex
        while end < path.endIndex {
            end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
            let part = String(path[..<end])
            guard unsafe access(part, F_OK) != 0 else { continue }
            return errno == ENOENT ? target(ofLink: part).map { (part, $0) } : nil
        }
        return nil
    }
}

/// Gives the file at `temporary` the name `path`, whatever had it before, and returns when the name is on the disk.
package func renameDurably(_ temporary: String, to path: String) throws(SystemError) {
    try uninterrupted { unsafe rename(temporary, path) }
    try OwnedDescriptor(Paths.parent(of: path), O_RDONLY | O_DIRECTORY).synchronize()
}
