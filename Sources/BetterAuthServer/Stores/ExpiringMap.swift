package import BetterAuthMessages

/// Entries that are forgotten at their time, and never more of them than a bound.
package struct ExpiringMap<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let value: Value
        let until: Timestamp
    }

    private var entries: [Key: Entry] = [:]
    /// A binary heap, the earliest end first. Entries that were removed or replaced leave their old places in it until
    /// those come up.
    private var ends: [(until: Timestamp, key: Key)] = []
    private let capacity: Int
    /// The latest end, and the most milliseconds that an entry was to stay, of those that may be forgotten.
    private var (latest, longest): (Timestamp, Int64) = (.never, 0)

    package init(capacity: Int) { self.capacity = max(capacity, 1) }

    package var count: Int { entries.count }

    /// The value, until its time has passed.
    package func value(_ key: Key, now: Timestamp) -> Value? {
        guard let entry = entries[key], now <= entry.until else { return nil }
        return entry.value
    }

    /// Adds or replaces an entry; false when the bound is reached by entries that have not expired.
    package mutating func insert(_ value: Value, for key: Key, until: Timestamp, now: Timestamp) -> Bool {
        removeExpired(now: now)
        guard entries[key] != nil || entries.count < capacity else { return false }
        entries[key] = Entry(value: value, until: until)
        ends.append((until, key))
        siftUp(from: ends.count - 1)
        if ends.count > 2 * entries.count + 64 { rebuild() }
        return true
    }

    /// Adds an entry, in place of the one that would expire first where the bound is reached. Those that a clock has
    /// left which was ahead end after all others: each new one would take the place of the one before it.
    /// - Returns: The key that was forgotten for it.
    package mutating func insertEvicting(_ value: Value, for key: Key, until: Timestamp, now: Timestamp) -> Key? {
        longest = max(longest, until.milliseconds - now.milliseconds)
        if latest.milliseconds > now.milliseconds + longest + ExpiryClock.tolerance {
            entries = entries.filter { $0.value.until.milliseconds <= now.milliseconds + longest }
            rebuild()
            latest = .never
        }
        latest = max(latest, until)
        if insert(value, for: key, until: until, now: now) { return nil }
        let evicted = removeFirst()
        _ = insert(value, for: key, until: until, now: now)
        return evicted
    }

    /// What has not expired, the earliest end first.
    package func entries(now: Timestamp) -> [(key: Key, value: Value, until: Timestamp)] {
        entries.filter { now <= $0.value.until }.map { ($0.key, $0.value.value, $0.value.until) }
            .sorted { $0.until < $1.until }
    }

    /// Forgets an entry.
    @discardableResult
    package mutating func remove(_ key: Key) -> Value? { entries.removeValue(forKey: key)?.value }

    /// Forgets what has expired.
    package mutating func removeExpired(now: Timestamp) {
        while let first = ends.first, first.until < now { _ = popFirst() }
    }

    private mutating func removeFirst() -> Key? {
        while !ends.isEmpty { if let key = popFirst() { return key } }
        return nil
    }

    /// Takes the earliest end; nil when the entry it belonged to is gone or lives longer by now.
    private mutating func popFirst() -> Key? {
        guard let last = ends.popLast() else { return nil }
        let (until, key) = ends.first ?? last
        if !ends.isEmpty {
            ends[0] = last
            siftDown()
        }
        guard entries[key]?.until == until else { return nil }
        entries[key] = nil
        return key
    }

    private mutating func rebuild() {
        // In order of their ends, which is a heap.
        ends = entries.map { ($0.value.until, $0.key) }.sorted { $0.0 < $1.0 }
    }

    private mutating func siftUp(from start: Int) {
        var index = start
        while index > 0, case let parent = (index - 1) / 2, ends[index].until < ends[parent].until {
            ends.swapAt(index, parent)
            index = parent
        }
    }

    private mutating func siftDown() {
        var index = 0
        while case let left = 2 * index + 1, left < ends.count {
            let right = left + 1
            let least = right < ends.count && ends[right].until < ends[left].until ? right : left
            guard ends[least].until < ends[index].until else { return }
            ends.swapAt(index, least)
            index = least
        }
    }
}
