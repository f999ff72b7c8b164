/// Why a store did not do its work. Nothing was changed, or a repeat of the same operation tells that it was.
package enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The database cannot be reached, is full, or did not answer in time; its own words, without values.
    case unavailable(String)
    /// There is no such database.
    case missing(String)
    /// The tables are of an earlier version than the program: theirs, and its own. 0 for no tables.
    case tooOld(Int, Int)
    /// The tables are of a later version than the program.
    case tooNew(Int, Int)
    /// A row is not what any version of this program writes.
    case damaged
    /// A bounded part is full of entries that must not be forgotten before their time.
    case full

    package var description: String {
        switch self {
        case .unavailable(let reason): "the store is unavailable: \(reason)"
        case .missing(let path): "\(path) does not exist"
        case .tooOld(0, _): "the database has none of the server's tables"
        case .tooOld(let found, let own): "the database has version \(found), and this program has version \(own)"
        case .tooNew(let found, let own): "the database has version \(found), and this program knows \(own)"
        case .damaged: "a row of the store is damaged"
        case .full: "the store is full"
        }
    }

    /// Every ``subject``.
    package static let subjects = ["store", "row", "limit"]

    /// What fails, in a word for a log.
    package var subject: String {
        switch self {
        case .unavailable, .missing, .tooOld, .tooNew: "store"
        case .damaged: "row"
        case .full: "limit"
        }
    }
}
