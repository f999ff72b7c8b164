internal import Cryptography
package import VaultCore
package import VaultFormat
internal import VaultStorage

/// What can be done with all entries of a folder at once, or with all records from earlier versions.
package enum FolderAction: Sendable {
    case move(EntryFolder, to: EntryFolder)
    case copy(EntryFolder, to: EntryFolder)
    /// To the trash, for so long.
    case discard(EntryFolder, Duration)
    /// For good.
    case remove(EntryFolder)
    /// Records from earlier versions get the place that they are written as.
    case adopt

    /// The folder that it is done with; nil for all of the vault.
    package var source: EntryFolder? {
        switch self {
        case .move(let source, _), .copy(let source, _), .discard(let source, _), .remove(let source): source
        case .adopt: nil
        }
    }

    /// Where the entries go.
    package var target: EntryFolder? {
        switch self {
        case .move(_, let target), .copy(_, let target): target
        case .discard, .remove, .adopt: nil
        }
    }
}

/// Which entries an action is for, and what keeps it from being done: made from what a list has of the entries, the
/// same by everybody who has it.
package struct FolderPlan: Sendable {
    /// One entry.
    package struct Change: Sendable {
        package let entry: EntryPath
        /// Where it goes; nil where it is removed.
        package let target: EntryPath?
    }

    /// An entry that cannot have its new place.
    package struct Misfit: Sendable {
        package let entry: EntryPath
        /// What is wrong with the place; nil where it is taken.
        package let reason: String?
        /// The place, where it could be one.
        package let target: EntryPath?
    }

    package private(set) var changes: [Change] = []
    /// What keeps all from being done, or, of records from earlier versions, what stays as it is.
    package private(set) var misfits: [Misfit] = []
    /// Values in files, which are neither copied nor kept by the trash.
    package private(set) var large: [EntryPath] = []
    private let isForSome: Bool
    private let isIntoItself: Bool
    /// When each was written, milliseconds since 1970.
    private let times: [EntryPath: Int64]

    /// - Parameter records: Everything but the trash.
    package init(_ action: FolderAction, _ records: [Vault.RecordInfo]) {
        let entries = records.map { EntryPath(collection: $0.collection, name: $0.name) }
        let names = EntryNames(entries)
        times = Dictionary(zip(entries, records.map(\.modified))) { first, _ in first }
        isIntoItself = action.source.map { action.target?.isWithin($0) == true } ?? false
        switch action {
        case .move(let source, let target):
            isForSome = false
            place(names, from: source, in: target, areMoved: true)
        case .copy(let source, let target):
            isForSome = false
            large = FolderPlan.files(records, names, in: source)
            place(names, from: source, in: target, areMoved: false)
        case .discard(let source, _):
            isForSome = false
            large = FolderPlan.files(records, names, in: source)
            changes = FolderPlan.inside(names, source).map { Change(entry: $0.entry, target: nil) }
        case .remove(let source):
            isForSome = false
            changes = FolderPlan.inside(names, source).map { Change(entry: $0.entry, target: nil) }
        case .adopt:
            isForSome = true
            adopt(names)
        }
    }

    /// Whether it can be done.
    package var isPossible: Bool {
        !changes.isEmpty && large.isEmpty && !isIntoItself && (isForSome || misfits.isEmpty)
    }

    /// Of the entries, when they were written and where they go, in order, 32 bytes.
    package var digest: [UInt8] {
        var bytes: [UInt8] = []
        for change in changes {
            for text in [change.entry.collection, change.entry.name, change.target?.collection, change.target?.name] {
                let part = Array((text ?? "").utf8)
                bytes += [UInt8(part.count & 255), UInt8(part.count >> 8)] + part
            }
            let time = UInt64(bitPattern: times[change.entry] ?? 0)
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: time >> (8 * UInt64($0))) }
        }
        return unsafe SHA256.hash(bytes.span.bytes).bytes
    }

    private static func inside(_ names: EntryNames, _ folder: EntryFolder) -> [(entry: EntryPath, remainder: String)] {
        names.all.compactMap { entry in names.remainder(of: entry, in: folder).map { (entry, $0) } }
            .sorted { $0.entry.isBefore($1.entry) }
    }

    private static func files(
        _ records: [Vault.RecordInfo], _ names: EntryNames, in folder: EntryFolder
    ) -> [EntryPath] {
        zip(records, names.all).filter { $0.isFile && names.remainder(of: $1, in: folder) != nil }.map(\.1)
    }

    /// A place is taken where another entry can be read as it: one that stays, or one that goes there too.
    private mutating func place(
        _ names: EntryNames, from source: EntryFolder, in target: EntryFolder, areMoved: Bool
    ) {
        let inside = FolderPlan.inside(names, source)
        let leaving = Set(areMoved ? inside.map(\.entry) : [])
        var read = Set(names.all.filter { !leaving.contains($0) }.flatMap(\.readings))
        for (entry, remainder) in inside {
            do throws(VaultError) {
                let place = try target.place(of: remainder)
                guard place.readings.allSatisfy({ !read.contains($0) }) else {
                    misfits.append(Misfit(entry: entry, reason: nil, target: place))
                    continue
                }
                read.formUnion(place.readings)
                changes.append(Change(entry: entry, target: place))
            } catch {
                misfits.append(Misfit(entry: entry, reason: error.reason, target: nil))
            }
        }
    }

    private mutating func adopt(_ names: EntryNames) {
        var read: [String: Int] = [:]
        for text in names.all.flatMap(\.readings) { read[text, default: 0] += 1 }
        let old = names.all.filter {
            $0.collection == Vault.defaultCollection && $0.name.utf8.contains(UInt8(ascii: "/"))
        }
        for entry in old.sorted(by: { $0.isBefore($1) }) {
            do throws(VaultError) {
                let place = try EntryPath(new: PathText.escaped(entry.name))
                guard !place.isReserved else { throw VaultError(.invalidName, "its first part is Holdfast's own") }
                // What is read as the new place is the entry itself, and nothing else.
                if place.readings.contains(where: { read[$0, default: 0] > (entry.readings.contains($0) ? 1 : 0) }) {
                    misfits.append(Misfit(entry: entry, reason: nil, target: place))
                } else {
                    changes.append(Change(entry: entry, target: place))
                }
            } catch {
                misfits.append(Misfit(entry: entry, reason: error.reason, target: nil))
            }
        }
    }
}

extension EntryPath {
    /// By bytes, the same on every machine.
    fileprivate func isBefore(_ other: EntryPath) -> Bool {
        collection.utf8.elementsEqual(other.collection.utf8)
            ? name.utf8.lexicographicallyPrecedes(other.name.utf8)
            : collection.utf8.lexicographicallyPrecedes(other.collection.utf8)
    }
}
