internal import SyncFormat
internal import VaultFormat

/// What a record says against what was shown: the values that go, and those that come.
struct Edit {
    /// A value that comes.
    enum Value {
        /// By its number in the table.
        case number(Int)
        /// Of our own making; no secret.
        case bytes([UInt8])
    }

    private let state: ItemState
    private let shown: ShownItem
    private(set) var gone: Set<ItemState.Element> = []
    private(set) var added: [(part: ItemPart, value: Value)] = []
    /// Parts with one value that are written, with the value that they have now.
    private var written: [(part: ItemPart, value: Int?)] = []

    init(_ state: ItemState, _ shown: ShownItem) {
        self.state = state
        self.shown = shown
    }

    var isEmpty: Bool { gone.isEmpty && added.isEmpty }

    /// Compares everything but the order of the fields and the tags that let more programs in.
    mutating func compare(_ parts: RecordParts, _ ids: [FieldID], _ table: ValueTable) throws(SyncError) {
        var now: [ItemPart: Int] = [:]
        func number(_ place: Range<Int>) throws(SyncError) -> Int {
            guard let number = table.number(of: place) else { throw .format(.invalid(field: "state value")) }
            return number
        }
        for (part, place) in parts.single { now[part] = try number(place) }
        for (id, field) in zip(ids, parts.fields) { now[.field(id)] = try number(field.whole) }
        var before = shown.single
        for (id, value) in shown.fields { before[.field(id)] = value }
        for part in Set(before.keys).union(now.keys).sorted() where before[part] != now[part] {
            gone.formUnion(state.elements(of: part))
            if let value = now[part] { added.append((part, .number(value))) }
            written.append((part, now[part]))
        }
        try compare(.tag, shown.tags, parts.tags.map(number))
        try compare(.history, shown.history, parts.history.map(number))
        try compare(.unknown, shown.unknown, parts.unknown.map(number))
    }

    private mutating func compare(_ part: ItemPart, _ before: [Int], _ now: [Int]) throws(SyncError) {
        let (before, now) = (Set(before), Set(now))
        added += now.subtracting(before).sorted().map { (part, .number($0)) }
        let left = before.subtracting(now)
        gone.formUnion(state.elements(of: part).filter { left.contains($0.value) })
    }

    mutating func compareOrder(_ ids: [FieldID]) {
        guard ids != shown.fields.map(\.id) else { return }
        gone.formUnion(state.elements(of: .order))
        added.append((.order, .bytes(ids.flatMap(\.bytes))))
    }

    /// A yes takes the place of every yes and no that was seen of the tag, and so does a no.
    mutating func compareWidening(_ now: [String], mark: (Int) -> WideningMark?) {
        let (before, after) = (shown.widening, now)
        for tag in Set(before).symmetricDifference(after).sorted() {
            gone.formUnion(state.elements(of: .wideningTag).filter { mark($0.value)?.tag == tag })
            added.append((.wideningTag, .bytes(WideningMark(tag, after.contains(tag)).bytes)))
        }
    }

    /// What is shown takes the place of what is in conflict with it, in the parts of which the history has earlier
    /// values.
    /// - Parameter isLower: Whether a value is an earlier counter of a one-time code than another: no conflict.
    mutating func settle(isLower: (_ value: Int, _ than: Int) -> Bool) {
        var values: [(part: ItemPart, value: Int)] = shown.fields.map { (.field($0.id), $0.value) }
        if let notes = shown.single[.notes] { values.append((.notes, notes)) }
        for (part, value) in values {
            let others = Set(state.elements(of: part).map(\.value)).subtracting([value])
            guard !others.allSatisfy({ isLower($0, value) }) else { continue }
            gone.formUnion(state.elements(of: part))
            added.append((part, .number(value)))
            written.append((part, value))
        }
    }

    /// The values that were in conflict with what was shown, in the parts that are written: they go into the history.
    func losers() -> [(part: ItemPart, value: Int)] {
        written.flatMap { part, now in
            guard part.kind == .field || part.kind == .notes else { return [(part: ItemPart, value: Int)]() }
            return Set(state.conflicts(in: part).map(\.value)).sorted().filter { $0 != now }.map { (part, $0) }
        }
    }
}
