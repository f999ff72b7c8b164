package import SecretMemory
package import SystemCalls

/// What is wrong with a list of breached passwords.
package enum BreachListError: Error, Sendable, Hashable {
    /// It is not there, or the system does not let it be read.
    case unreadable(SystemError)
    /// It is a pipe, a device or something else that is neither a file nor a folder; in a folder, also a link.
    case notRegular
    /// Nothing is in the file.
    case empty
    /// A line does not begin with the digits of a digest: 40 in a file, 35 in a file of a folder.
    case notHex(digits: Int, at: UInt64?)
    /// What follows the digest is not `:` and a number, which a file of a folder must have.
    case noCount(at: UInt64?)
    /// A line has more than any digest with a count.
    case longLine(at: UInt64?)
    /// A digest comes after a greater one.
    case notSorted(at: UInt64?)
    /// A file of a folder has more bytes than any range.
    case largeRange
    /// A folder has no file for any of the ranges that were looked for: it is another folder.
    case noRanges
    /// The file ended before its end: somebody writes it.
    case changed
    /// There is no locked memory for what is read.
    case memory(SecretMemoryError)
}

extension BreachListError: CustomStringConvertible {
    /// What is wrong and what is expected. A place in a file is named only where no password led there.
    package var description: String {
        switch self {
        case .unreadable(let error): "\(error)"
        case .notRegular: "this is neither a file nor a folder of files (pipes, devices and links in it are refused)"
        case .empty: "the file is empty"
        case .notHex(let digits, let place):
            "a line does not begin with \(digits) hexadecimal digits of a SHA-1\(BreachListError.words(place))"
        case .noCount(let place): "a digest is not followed by ':' and a number\(BreachListError.words(place))"
        case .longLine(let place): "a line is too long\(BreachListError.words(place))"
        case .notSorted(let place):
            "the lines are not sorted by digest\(BreachListError.words(place)); use the list that is ordered by hash, "
                + "or sort it"
        case .largeRange: "a file in the folder is larger than a range can be"
        case .noRanges:
            "the folder has no file for the range of any password (such as 21BD1 or 21BD1.txt); name the folder of the list"
        case .changed: "the file became shorter while it was read"
        case .memory(let error): "\(error)"
        }
    }

    private static func words(_ place: UInt64?) -> String { place.map { " (at byte \($0))" } ?? "" }
}
