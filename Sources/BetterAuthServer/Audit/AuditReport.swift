/// What a check of an audit log found.
package struct AuditReport: Sendable {
    /// What does not fit together.
    package enum Fault: Sendable, Hashable, CustomStringConvertible {
        /// Not a line of the log, or only a part of one.
        case broken
        /// Its proof is another one: it was changed, or written without the key.
        case changed(chain: String, place: UInt64)
        /// Lines of a chain that are not there: from the first to the last.
        case missing(chain: String, first: UInt64, last: UInt64)
        /// A line that stands too late: it was moved, or is there twice.
        case moved(chain: String, place: UInt64)
        /// A line behind the end of its chain.
        case afterEnd(chain: String)
        /// A line of a chain that none of the keys has made.
        case unknownKey(chain: String)
        /// A chain that began behind another line than the one that stands there now.
        case unlinked(chain: String)
        /// There is no line at all: a log begins with one.
        case empty
        /// Lines of the end of a chain, which another one tells of.
        case shortened(chain: String, lines: UInt64)

        package var description: String {
            switch self {
            case .broken: "not a line of the log, or a part of one: a full disk or a killed process leaves such a part"
            case .empty: "the file has no line, and a log begins with one"
            case .changed(let chain, let place): "line \(place) of chain \(chain) was changed"
            case .missing(let chain, let first, let last):
                first == last
                    ? "line \(first) of chain \(chain) is missing"
                    : "lines \(first) to \(last) of chain \(chain) are missing"
            case .moved(let chain, let place): "line \(place) of chain \(chain) was moved here or is here twice"
            case .afterEnd(let chain): "a line behind the end of chain \(chain)"
            case .unknownKey(let chain): "chain \(chain) was written with a key that the file of keys does not have"
            case .unlinked(let chain):
                "chain \(chain) began behind another line: lines in front of it were removed or added"
            case .shortened(let chain, let lines): "chain \(chain) had \(lines) lines, and has fewer here"
            }
        }
    }

    /// A chain as it stands in the file.
    package struct Chain: Sendable, Hashable {
        package let id: String
        /// Lines that it had at least, those included that are missing.
        package var lines: UInt64
        package var lastTag: String
        /// Whether it has an end. Without one the process runs, was killed, or the last lines were removed.
        package var isEnded = false
    }

    /// The most faults that are named.
    package static let most = 1000

    package internal(set) var lines = 0
    /// With the numbers of their lines in the file, from 1.
    package internal(set) var faults: [(line: Int, fault: Fault)] = []
    package internal(set) var hasMore = false
    package internal(set) var chains: [Chain] = []
    /// Operations that were not written, as the log itself says.
    package internal(set) var lost = 0
    /// Whether the first chain began behind a line of an earlier file.
    package internal(set) var continuesEarlier = false

    mutating func add(_ fault: Fault, at line: Int) {
        guard faults.count < AuditReport.most else {
            hasMore = true
            return
        }
        faults.append((line, fault))
    }
}
