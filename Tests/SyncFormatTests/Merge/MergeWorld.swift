import SyncFormat

/// Devices that share one item, and all entries that they wrote of it.
///
/// Values are numbers. A world is a value, so that every order of what can happen can be walked through.
struct MergeWorld: Hashable {
    /// What a user does with the item on one device.
    enum Change: Hashable, CaseIterable {
        case editFirst, editSecond, addTag, removeTag, allow, disallow, trash, restore, remove
        /// Not the user's: the content of a dead item is dropped when its time in the trash is over.
        case drop
        /// Not the user's: the stream begins anew with what counts.
        case snapshot
        /// The last device is removed from the group.
        case expel
        /// Not the user's: the device's home is copied away, and put back unnoticed.
        case keep, putBack

        /// Those that change the item.
        static let ofTheItem: [Change] = [
            .editFirst, .editSecond, .addTag, .removeTag, .allow, .disallow, .trash, .restore, .remove,
        ]
        /// All while every device has one life.
        static let ofOneLife = allCases.filter { $0 != .keep && $0 != .putBack }
    }

    enum Step: Hashable {
        case change(Change, on: Int)
        /// A device takes an entry of another's stream, by its number.
        case take(Int, from: Int, by: Int)
        /// A device finds on the road what its other life wrote.
        case notice(by: Int)
    }

    struct Entry: Hashable {
        /// What the writer had taken of every stream.
        let heads: [Int]
        /// The whole item, or nothing where the entry has none.
        let state: ItemState
        /// Who has read none before it needs none.
        let isSnapshot: Bool
        /// The last entry of the removed device that counts, by the roster that the entry names.
        let limit: Int
    }

    struct Device: Hashable {
        var state: ItemState
        /// Entries of each stream that it took.
        var taken: [Int]
        /// What counts of the removed device's stream.
        var limit = Int.max
        /// The stream that it writes.
        var own: Int
        /// Whether it was put back behind an entry that the road has, and does not know it. What it took of its own
        /// stream is then what both lives have.
        var isBack = false
        /// How many entries it wrote since, which nobody gets.
        var unsaid = 0
    }

    /// A value that somebody wrote into a field.
    struct Written: Hashable {
        let part: ItemPart
        let value: Int
        let dot: Dot
        /// Whether somebody who had it removed the item for good.
        var isRemoved = false
        /// The device that alone has it: it was put back, and its entry does not count.
        var pending: Int?
    }

    static let first = ItemPart.field(FieldID([UInt8](repeating: 1, count: 16))!)
    static let second = ItemPart.field(FieldID([UInt8](repeating: 2, count: 16))!)
    static let mark = 7
    /// A widening tag's yes and no.
    static let (yes, no) = (9, 8)

    var devices: [Device]
    /// What each device is put back to.
    var kept: [Device]
    var streams: [[Entry]]
    var written: [Written] = []
    private var drawn = 100
    /// Devices that did anything: those that did nothing yet are alike.
    var used = 0
    var changes = 0
    var isExpelled = false

    static func stream(_ device: Int) -> StreamID { StreamID([UInt8](repeating: UInt8(device + 1), count: 16))! }

    /// All have the item as a backup had it.
    init(devices count: Int) {
        let origin = Dot(StreamID([UInt8](repeating: 0xFF, count: 16))!, 1)
        var state = ItemState()
        state.write(
            at: Stamp(origin, time: 0),
            adding: [
                (MergeWorld.first, 1), (MergeWorld.second, 2), (.tag, MergeWorld.mark), (.wideningTag, MergeWorld.yes),
                (.trash, 0),
            ])
        devices = (0..<count).map { Device(state: state, taken: [Int](repeating: 0, count: count), own: $0) }
        kept = devices
        streams = [[Entry]](repeating: [], count: count)
    }

    var last: Int { devices.count - 1 }

    /// The devices that must agree in the end.
    var members: Range<Int> { 0..<(isExpelled ? last : devices.count) }

    // What can happen

    func canChange(_ change: Change, on device: Int) -> Bool {
        let state = devices[device].state
        let isOut = device == last && devices.contains { $0.limit != .max }
        switch change {
        case .drop: return state.hasContent && !state.lives
        case .expel: return devices.count > 2 && !isExpelled && device != last
        case .snapshot:
            return !isOut && !devices[device].isBack && streams[devices[device].own].last?.isSnapshot == false
        case .keep: return kept[device] != devices[device]
        case .putBack:
            // The one that may be removed has one stream.
            return kept[device] != devices[device] && (device != last || devices.count == 2) && streams.count < 12
        default: break
        }
        guard state.lives else { return false }
        let tags = state.members(of: .tag)
        let isAllowed = state.members(of: .wideningTag) == [MergeWorld.yes]
        switch change {
        case .addTag: return !tags.contains(MergeWorld.mark)
        case .removeTag: return tags.contains(MergeWorld.mark)
        case .allow: return !isAllowed
        case .disallow: return isAllowed
        case .trash: return state.shown(.trash)?.value == 0
        case .restore: return state.shown(.trash)?.value == 1
        default: return true
        }
    }

    /// The entries that a device can take now.
    func takeable(by device: Int) -> [Step] {
        let reader = devices[device]
        var steps: [Step] = reader.isBack ? [.notice(by: device)] : []
        for from in streams.indices where from != reader.own {
            for number in (reader.taken[from] + 1)..<(streams[from].count + 1) {
                let entry = streams[from][number - 1]
                guard number == reader.taken[from] + 1 || entry.isSnapshot else { continue }
                if from == last && number > reader.limit { continue }
                let isCausal = entry.heads.indices.allSatisfy { stream in
                    let head = stream == last ? min(entry.heads[stream], reader.limit) : entry.heads[stream]
                    return stream == from || head <= reader.taken[stream]
                }
                if isCausal { steps.append(.take(number, from: from, by: device)) }
            }
        }
        return steps
    }

    // What happens

    mutating func apply(_ step: Step) {
        switch step {
        case .change(let change, let device): apply(change, on: device)
        case .take(let number, let from, let device): take(number, from, device)
        case .notice(let device): notice(device)
        }
    }

    /// The clocks: one stands at zero, one is far ahead.
    private func time(_ device: Int) -> Int64 { [500, 0, 4_000_000][device % 3] }

    private func stamp(_ device: Int) -> Stamp {
        let writer = devices[device]
        let number = writer.taken[writer.own] + writer.unsaid + 1
        return Stamp(Dot(MergeWorld.stream(writer.own), UInt64(number)), time: time(device))
    }

    /// A value that nobody had.
    private mutating func fresh() -> Int {
        drawn += 1
        return drawn
    }

    private mutating func publish(_ device: Int, isSnapshot: Bool = false) {
        guard !devices[device].isBack else {
            devices[device].unsaid += 1
            return
        }
        let (state, own) = (devices[device].state, devices[device].own)
        let isOwn = state.versions.contains { $0.dot.stream == MergeWorld.stream(own) }
        // A snapshot has the items of which a version is the writer's own, and the removals.
        var said = state
        if isSnapshot && !isOwn { said.dropContent() }
        streams[own].append(
            Entry(
                heads: devices[device].taken, state: said, isSnapshot: isSnapshot, limit: devices[device].limit))
        devices[device].taken[own] = streams[own].count
    }

    /// The vault is what it was; what was not published in between is nowhere.
    private mutating func putBack(_ device: Int) {
        written.removeAll { $0.pending == device }
        devices[device] = kept[device]
        let new = streams.count - devices[device].taken.count
        devices[device].taken += [Int](repeating: 0, count: new)
        let own = devices[device].own
        devices[device].isBack = streams[own].count > devices[device].taken[own]
    }

    /// The road has entries of the own stream that this life did not write.
    private mutating func notice(_ device: Int) {
        let (old, hadUnsaid) = (devices[device].own, devices[device].unsaid > 0)
        let last = devices[device].taken[old]
        for index in devices.indices { devices[index].taken.append(0) }
        devices[device].own = streams.count
        (devices[device].isBack, devices[device].unsaid) = (false, 0)
        streams.append([])
        let stamp = stamp(device)
        let isChanged = devices[device].state.rebase(MergeWorld.stream(old), after: UInt64(last), at: stamp)
        for index in written.indices where written[index].pending == device { written[index].pending = nil }
        if isChanged || hadUnsaid { publish(device) }
    }

    private mutating func apply(_ change: Change, on device: Int) {
        used = max(used, device + 1)
        switch change {
        case .drop: devices[device].state.dropContent()
        case .keep: kept[device] = devices[device]
        case .putBack: putBack(device)
        case .snapshot: publish(device, isSnapshot: true)
        case .expel:
            isExpelled = true
            devices[device].limit = devices[device].taken[last]
            publish(device)
        case .remove:
            let values = Set(devices[device].state.elements.map(\.value))
            for index in written.indices where values.contains(written[index].value) { written[index].isRemoved = true }
            devices[device].state.remove()
            publish(device)
        case .editFirst: replace(MergeWorld.first, with: fresh(), on: device)
        case .editSecond: replace(MergeWorld.second, with: fresh(), on: device)
        case .trash: replace(.trash, with: 1, on: device)
        case .restore: replace(.trash, with: 0, on: device)
        case .allow: replace(.wideningTag, with: MergeWorld.yes, on: device)
        case .disallow: replace(.wideningTag, with: MergeWorld.no, on: device)
        case .addTag: replace(.tag, with: MergeWorld.mark, on: device)
        case .removeTag: replace(.tag, with: nil, on: device)
        }
    }

    /// Puts a value in place of all that are seen; fields' values go into the history.
    private mutating func replace(_ part: ItemPart, with value: Int?, on device: Int) {
        let gone = devices[device].state.elements(of: part)
        let stamp = stamp(device)
        var added = value.map { [(part: part, value: $0)] } ?? []
        if part.kind == .field, value != nil {
            added += Set(gone.map(\.value)).sorted().map { (.history, $0) }
        }
        devices[device].state.write(at: stamp, removing: Set(gone), adding: added)
        if part.kind == .field, let value {
            let dot = devices[device].state.versions[0].dot
            written.append(
                Written(part: part, value: value, dot: dot, pending: devices[device].isBack ? device : nil))
        }
        publish(device)
    }

    private mutating func take(_ number: Int, _ from: Int, _ device: Int) {
        used = max(used, device + 1)
        let entry = streams[from][number - 1]
        let before = devices[device].state
        var state = before.joined(with: entry.state)
        devices[device].taken[from] = number
        // What was dropped here does not come back dead.
        if !before.hasContent && !state.lives { state.dropContent() }
        devices[device].state = state
        let limit = min(devices[device].limit, entry.limit)
        let hadRefused = limit < devices[device].limit && devices[device].taken[last] > limit
        devices[device].limit = limit
        let outcast = MergeWorld.stream(last)
        let isRefused = { (dot: Dot) in dot.stream == outcast && dot.number > UInt64(clamping: limit) }
        if devices[device].state.adopt(where: isRefused, at: stamp(device)) {
            publish(device)
        } else if hadRefused && !state.removals.isEmpty {
            // Which entry brought a removal is not kept: all are said again.
            publish(device)
        } else if state.mustRestate(after: before) {
            devices[device].state.write(at: stamp(device))
            publish(device)
        }
    }
}

extension MergeWorld {
    /// What must hold when nothing is left to be taken; nil when it does.
    var disagreement: String? {
        let states = members.map { devices[$0].state }
        for state in states.dropFirst() {
            if state.removals != states[0].removals { return "what was removed differs" }
            if state.lives != states[0].lives { return "an item lives on one device only" }
            guard state.lives else { continue }
            if state.elements != states[0].elements { return "values differ" }
            if state.versions != states[0].versions { return "versions differ" }
            if state.context != states[0].context { return "what was seen differs" }
        }
        // Nobody takes a field away: an item that lives is whole.
        if let state = states.first, state.lives {
            for part in [MergeWorld.first, MergeWorld.second, .trash] where state.elements(of: part).isEmpty {
                return "\(part) is gone"
            }
        }
        return states.first.flatMap(loss)
    }

    /// A value of a field is there, or in the history, or somebody removed the item for good having seen it.
    private func loss(_ state: ItemState) -> String? {
        let limit = devices[0].limit
        for one in written where !one.isRemoved {
            // An entry that nobody took before its writer was removed.
            if isExpelled, one.dot.stream == MergeWorld.stream(last), one.dot.number > UInt64(clamping: limit),
                !members.contains(where: { devices[$0].taken[last] >= Int(one.dot.number) })
            {
                continue
            }
            let isThere = state.elements.contains {
                ($0.part == one.part || $0.part == .history) && $0.value == one.value
            }
            if !isThere { return "\(one.value) is lost" }
        }
        return nil
    }
}

extension MergeWorld: CustomStringConvertible {
    var description: String {
        func short(_ dot: Dot) -> String {
            "\(dot.stream.bytes[0]).\(dot.number)" + (dot.origin.life > 0 ? "/\(dot.origin.life)" : "")
        }
        func short(_ state: ItemState) -> String {
            let elements = state.elements.map { one in
                "\(one.part.kind)\(one.part.field.map { "\($0.bytes[0])" } ?? "")=\(one.value)@\(short(one.stamp.dot))"
            }
            let versions = state.versions.map { short($0.dot) }
            return "\(elements) v\(versions) c\(state.context.highest.map(short)) d\(state.removals.highest.map(short))"
        }
        let now = devices.map { "  \(short($0.state)) taken \($0.taken)" }
        let log = streams.enumerated().flatMap { device, entries in
            entries.map { "  stream \(device + 1): \(short($0.state)) heads \($0.heads) \($0.isSnapshot)" }
        }
        return "\n" + (now + log).joined(separator: "\n")
    }
}
