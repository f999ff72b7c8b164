/// Why a store did not do its work. Nothing was changed, or a repeat of the same operation tells that it was.
package enum StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The database cannot be reached, is full, or did not answer in time; its own words, without values.
    case unavailable(String)
    /// A row is not what any version of this program writes.
    case damaged
    /// A bounded part is full of entries that must not be forgotten before their time.
    case full

    package var description: String {
        switch self {
        case .unavailable(let reason): "the store is unavailable: \(reason)"
        case .damaged: "a row of the store is damaged"
        case .full: "the store is full"
        }
    }
}
