internal import Holdfast

/// How a list is sorted.
package enum VaultOrder: String, Sendable, Hashable, CaseIterable {
    /// Favourites first, then by name as people read it, then by folder.
    case name = "name"
    /// What was changed last first.
    case changed = "changed"
    /// What was opened last first; what never was comes behind, by name.
    case used = "used"

    /// - Parameter uses: When each item was opened last, as far as it is known.
    func sorted(_ items: [VaultItem], _ uses: [VaultItem.ID: Int64]) -> [VaultItem] {
        items.map { item in
            let time: Int64 =
                switch self {
                case .name: item.isFavourite ? 1 : 0
                case .changed: item.changed
                case .used: uses[item.id] ?? 0
                }
            return Key(item: item, time: time, title: item.title.lowercased())
        }.sorted().map(\.item)
    }

    /// What an item is sorted by: folded once, and not at each comparison.
    private struct Key: Comparable {
        let item: VaultItem
        let time: Int64
        let title: String

        static func == (left: Key, right: Key) -> Bool { left.item.id == right.item.id }

        static func < (left: Key, right: Key) -> Bool {
            if left.time != right.time { return left.time > right.time }
            if left.title != right.title { return left.title < right.title }
            return (left.item.folder, left.item.name) < (right.item.folder, right.item.name)
        }
    }
}

/// When items were opened last: the latest of them, kept in the vault beside the preferences.
struct RecentUses: Sendable, Equatable {
    /// Milliseconds since 1970.
    private(set) var times: [VaultItem.ID: Int64] = [:]

    /// So many are remembered.
    static let limit = 200

    init() {}

    /// - Parameter time: Milliseconds since 1970.
    mutating func note(_ id: VaultItem.ID, at time: Int64) {
        // Two in one millisecond, or under a clock that went back, are still in their order.
        times[id] = max(time, (times.values.max() ?? 0) &+ 1)
        guard times.count > RecentUses.limit, let oldest = times.min(by: { $0.value < $1.value }) else { return }
        times[oldest.key] = nil
    }

    /// It has another name now.
    mutating func rename(_ id: VaultItem.ID, to new: VaultItem.ID) {
        if let time = times.removeValue(forKey: id) { times[new] = time }
    }

    /// Forgets all others.
    mutating func keep(_ ids: Set<VaultItem.ID>) { times = times.filter { ids.contains($0.key) } }

    /// Lines of a time and a path.
    var text: String {
        times.sorted { $0.value > $1.value }.map { id, time in
            "\(time) \(EntryPath(collection: id.collection, name: id.name).text)\n"
        }.joined()
    }

    /// Reads what ``text`` wrote; a line that means nothing here is left out.
    init(parsing text: String) {
        for line in text.split(separator: "\n").prefix(RecentUses.limit) {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let time = Int64(parts[0]), let path = EntryPath(parsing: String(parts[1])) else {
                continue
            }
            times[VaultItem.ID(collection: path.collection, name: path.name)] = time
        }
    }
}
