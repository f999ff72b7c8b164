/// Entries that were used last. When it is full, each new one takes the place of one: the next in turn that was not
/// used since the turn before. Never are many let go at once, which would hold up every request meanwhile.
package struct RecentMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        var isUsed = false
    }

    private var entries: [Key: Entry] = [:]
    /// All keys, in the order in which they take turns.
    private var turns: [Key] = []
    private var next = 0
    private let capacity: Int

    package init(capacity: Int) { self.capacity = max(1, capacity) }

    package var count: Int { entries.count }

    package func contains(_ key: Key) -> Bool { entries[key] != nil }

    /// The value, which is used with that.
    package mutating func value(_ key: Key) -> Value? {
        guard let index = entries.index(forKey: key) else { return nil }
        entries.values[index].isUsed = true
        return entries.values[index].value
    }

    /// Adds or replaces an entry; a new one is not used yet.
    package mutating func put(_ value: Value, for key: Key) {
        if let index = entries.index(forKey: key) {
            entries.values[index].value = value
            return
        }
        entries[key] = Entry(value: value)
        guard turns.count >= capacity else { return turns.append(key) }
        while let index = entries.index(forKey: turns[next]), entries.values[index].isUsed {
            entries.values[index].isUsed = false
            next = (next + 1) % capacity
        }
        entries[turns[next]] = nil
        turns[next] = key
        next = (next + 1) % capacity
    }

    package mutating func removeAll() {
        entries = [:]
        turns = []
        next = 0
    }
}
