internal import SyncFormat

/// What is known of a field when an item is compared with what was shown of it.
struct FieldKey {
    let kind: UInt8
    let label: [UInt8]
    /// The number of its value alone, and of all of it.
    let value: Int
    let whole: Int
}

/// Which field is which after somebody changed an item whose fields have no ids of their own.
enum FieldMatch {
    /// For each field that is there now the one that was shown; nil for a new one.
    ///
    /// First those that did not change, then those of equal label and kind, then those of equal value, whose label was
    /// changed; each in the order in which they stand.
    static func match(shown: [FieldKey], now: [FieldKey]) -> [Int?] {
        var found = [Int?](repeating: nil, count: now.count)
        var left = Array(shown.indices)
        func take(_ isSame: (FieldKey, FieldKey) -> Bool) {
            for index in now.indices where found[index] == nil {
                guard let place = left.firstIndex(where: { isSame(shown[$0], now[index]) }) else { continue }
                found[index] = left.remove(at: place)
            }
        }
        take { $0.whole == $1.whole }
        take { $0.kind == $1.kind && $0.label == $1.label }
        take { $0.value == $1.value }
        return found
    }
}
