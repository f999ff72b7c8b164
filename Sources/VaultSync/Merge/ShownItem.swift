internal import SyncFormat
internal import VaultFormat

/// A tag that lets more programs in, with whether it is meant to: any no of two devices wins over a yes.
struct WideningMark: Hashable {
    let tag: String
    let isAllowed: Bool

    init(_ tag: String, _ isAllowed: Bool) {
        self.tag = tag
        self.isAllowed = isAllowed
    }

    /// Nil for other bytes.
    init?(_ bytes: [UInt8]) {
        guard let last = bytes.last, last <= 1, let tag = String(validating: bytes.dropLast(), as: UTF8.self) else {
            return nil
        }
        self.init(tag, last == 1)
    }

    var bytes: [UInt8] { Array(tag.utf8) + [isAllowed ? 1 : 0] }
}

/// What everybody sees of an item's state, as numbers of a ``SyncFormat/ValueTable``. A state may have more than an
/// item can hold, because a merge cuts nothing: what does not fit is not shown, and stays.
struct ShownItem {
    /// Parts with one value, but for fields and their order.
    private(set) var single: [ItemPart: Int] = [:]
    private(set) var fields: [(id: FieldID, value: Int)] = []
    private(set) var tags: [Int] = []
    /// The tags that let more programs in, and are allowed by all.
    private(set) var widening: [String] = []
    /// In the order of their times.
    private(set) var history: [Int] = []
    private(set) var unknown: [Int] = []
    /// Whether the item shows less than there is.
    private(set) var isPartial = false

    private var room = ItemLimits.size - ItemLayout.frontSize
    private var entries = ItemLimits.entries

    init(_ state: ItemState, _ table: ValueTable, in space: borrowing MergeSpace) {
        for element in state.elements where element.part.isSingle && single[element.part] == nil {
            guard element.part.kind != .field, element.part.kind != .order else { continue }
            single[element.part] = state.shown(element.part)?.value
        }
        if let notes = single[.notes] { take(table.places[notes].count) }
        if let trash = single[.trash], !table.places[trash].isEmpty, let place = single[.place] {
            // The entry has the name, too.
            take(18 + table.places[place].count)
        }
        for id in ShownItem.order(state, table, in: space) {
            guard let shown = ShownItem.shown(id, state, table, in: space), fields.count < ItemLimits.fields,
                fits(table.places[shown].count)
            else {
                isPartial = true
                continue
            }
            fields.append((id, shown))
        }
        let allowed = ShownItem.allowed(state, table, in: space)
        for tag in allowed {
            guard tags.count + widening.count < ItemLimits.tags, fits(tag.utf8.count) else {
                isPartial = true
                continue
            }
            widening.append(tag)
        }
        for tag in state.members(of: .tag) {
            guard tags.count + widening.count < ItemLimits.tags, fits(table.places[tag].count) else {
                isPartial = true
                continue
            }
            tags.append(tag)
        }
        for entry in state.members(of: .unknown) {
            guard fits(table.places[entry].count) else {
                isPartial = true
                continue
            }
            unknown.append(entry)
        }
        showHistory(state, table, in: space)
    }

    /// The value of a field that is shown: of codes that differ in the counter alone the highest.
    private static func shown(
        _ id: FieldID, _ state: ItemState, _ table: ValueTable, in space: borrowing MergeSpace
    ) -> Int? {
        guard var shown = state.shown(.field(id))?.value else { return nil }
        for other in state.conflicts(in: .field(id)).map(\.value)
        where space.isHigherCounter(table.places[other], than: table.places[shown]) { shown = other }
        return shown
    }

    /// The latest that there is room for.
    private mutating func showHistory(
        _ state: ItemState, _ table: ValueTable, in space: borrowing MergeSpace
    ) {
        let all = space.withBytes { bytes in
            state.members(of: .history).map { value in
                (value, bytes.integer(at: table.places[value].lowerBound, as: Int64.self) ?? .min)
            }
        }
        for (value, _) in all.sorted(by: { ($1.1, $1.0) < ($0.1, $0.0) }) {
            guard history.count < ItemLimits.history, fits(table.places[value].count) else {
                isPartial = true
                continue
            }
            history.append(value)
        }
        history.reverse()
    }

    private mutating func take(_ size: Int) {
        room -= ItemLayout.Entry.headSize + size
        entries -= 1
    }

    private mutating func fits(_ size: Int) -> Bool {
        guard entries > 0, room >= ItemLayout.Entry.headSize + size else { return false }
        take(size)
        return true
    }

    /// The fields that have a value, in the order in which they are shown: as the shown order has them, and those that
    /// it does not know behind.
    static func order(_ state: ItemState, _ table: ValueTable, in space: borrowing MergeSpace) -> [FieldID] {
        let all = state.fields
        guard let order = state.shown(.order) else { return all }
        let bytes = space.withBytes { $0.copied(table.places[order.value]) }
        var left = Set(all)
        var ids: [FieldID] = []
        for start in stride(from: 0, to: bytes.count - FieldID.size + 1, by: FieldID.size) {
            guard let id = FieldID(bytes[start..<start + FieldID.size]), left.remove(id) != nil else { continue }
            ids.append(id)
        }
        return ids + all.filter(left.contains)
    }

    /// The tags that let more programs in and that nobody took away.
    private static func allowed(
        _ state: ItemState, _ table: ValueTable, in space: borrowing MergeSpace
    ) -> [String] {
        let marks = state.members(of: .wideningTag).compactMap { value in
            WideningMark(space.withBytes { $0.copied(table.places[value]) })
        }
        let refused = Set(marks.filter { !$0.isAllowed }.map { Array($0.tag.utf8) })
        return marks.filter { $0.isAllowed && !refused.contains(Array($0.tag.utf8)) }.map(\.tag)
    }
}
