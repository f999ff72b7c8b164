internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast

/// Which item a text on the command line names.
///
/// An item's path is its name, behind its collection and a slash unless that is the default one. A text names, in this order: the
/// item of this path; in any case of letters; by the last part of its path; by the beginning of its path or of the last part. Where
/// several are as near, it names none of them.
enum ItemNames {
    enum Found: Equatable {
        case one(RecordPath)
        case several([RecordPath])
        /// Paths that are spelled nearly so.
        case none([String])
    }

    /// How an item is called on the command line.
    static func path(_ path: RecordPath) -> String {
        path.collection == Options.defaultCollection ? path.name : path.collection + "/" + path.name
    }

    /// - Parameter collection: The only one that is looked in; all when nil.
    static func find(_ text: String, in collection: String?, among all: [RecordPath]) -> Found {
        let candidates = all.filter { candidate in
            collection.map { candidate.collection.utf8.elementsEqual($0.utf8) } ?? true
        }.map { candidate in
            let spelled = collection == nil ? path(candidate) : candidate.name
            return (path: candidate, spelled: spelled, folded: spelled.lowercased())
        }
        let folded = text.lowercased()
        func last(_ path: String) -> Substring { path.split(separator: "/").last ?? path[...] }
        let steps: [((path: RecordPath, spelled: String, folded: String)) -> Bool] = [
            { $0.spelled.utf8.elementsEqual(text.utf8) }, { $0.folded == folded }, { last($0.folded) == folded },
            { $0.folded.hasPrefix(folded) || last($0.folded).hasPrefix(folded) },
        ]
        for isMeant in steps {
            let found = candidates.filter(isMeant).map(\.path)
            if found.count == 1 { return .one(found[0]) }
            if found.count > 1 { return .several(found) }
        }
        let near = candidates.filter { candidate in
            isNear(folded, candidate.folded) || isNear(folded, String(last(candidate.folded)))
        }
        return .none(near.prefix(3).map(\.spelled))
    }

    private static func isNear(_ text: String, _ other: String) -> Bool {
        Suggestion.distance(Array(text.utf8), Array(other.utf8)) <= max(1, other.utf8.count / 3)
    }
}

/// An item and where it was found.
struct FoundItem: ~Copyable {
    let path: RecordPath
    var item: Item

    /// The item once more, as it was read.
    borrowing func duplicate() throws(CommandError) -> Item {
        do {
            return try item.withBytes { bytes throws(VaultError) in
                try Item(parsing: bytes, sequence: item.sequence, isOfValue: item.isOfValue)
            }
        } catch { throw CommandError(error) }
    }
}

extension ItemAccess {
    /// Reads the item that a text names.
    /// - Throws: `recordNotFound`, which says what may have been meant; `ambiguous`.
    func find(_ text: String, in collection: String?) throws(CommandError) -> FoundItem {
        if let path = RecordPath(collection: collection ?? Options.defaultCollection, name: text) {
            do throws(CommandError) { return FoundItem(path: path, item: try item(path)) } catch {
                guard error.code == VaultError.Code.recordNotFound.description else { throw error }
            }
        }
        let path = try resolve(text, in: collection)
        return FoundItem(path: path, item: try item(path))
    }

    /// As ``find(_:in:)``, without reading it.
    func resolve(_ text: String, in collection: String?) throws(CommandError) -> RecordPath {
        try ItemNames.resolve(text, in: collection, among: try paths())
    }
}

extension ItemNames {
    /// The one record that a text means.
    /// - Throws: `ambiguous`, `recordNotFound`, with what was near.
    static func resolve(
        _ text: String, in collection: String?, among all: [RecordPath]
    ) throws(CommandError) -> RecordPath {
        switch find(text, in: collection, among: all) {
        case .one(let path): return path
        case .several(let paths):
            let shown = paths.prefix(5).map { "'\(Escaping.name(ItemNames.path($0)))'" }.joined(separator: ", ")
            let more = paths.count > 5 ? " and \(paths.count - 5) more" : ""
            throw CommandError(
                .usage, code: "ambiguous", "'\(Escaping.name(text))' can be any of \(shown)\(more)",
                advice: "enter more of the name")
        case .none(let near):
            let shown = near.map { "'\(Escaping.name($0))'" }.joined(separator: " or ")
            throw CommandError(
                .notFound, code: VaultError.Code.recordNotFound.description, "no item '\(Escaping.name(text))'",
                advice: near.isEmpty ? "holdfast find WORD searches fields and tags too" : "did you mean \(shown)?")
        }
    }
}

extension ItemAccess {
    /// The record that a whole name means: the one of this name, or, where the command line names no collection, the one with this path
    /// (`work/vpn`), as lists and completions show it. Nothing is guessed.
    /// - Throws: `invalidName`; `ambiguous` where records of two collections have this path.
    func whole(_ name: String) throws(CommandError) -> RecordPath {
        let path = try Naming.check(name, arguments.collection)
        guard !arguments.contains(Options.collection.option), name.contains("/") else { return path }
        let all = try paths()
        guard !all.contains(path) else { return path }
        let spelled = all.filter { ItemNames.path($0).utf8.elementsEqual(name.utf8) }
        return spelled.isEmpty ? path : try ItemNames.resolve(name, in: nil, among: spelled)
    }

    /// Runs a command that takes whole names. Where there is no record of the name, its error says which may have been meant.
    func naming<R>(
        _ name: String, in collection: String, _ body: () throws(CommandError) -> R
    ) throws(CommandError) -> R {
        do throws(CommandError) { return try Naming.explaining(name, collection, body) } catch {
            guard error.code == VaultError.Code.recordNotFound.description, let paths = try? paths() else {
                throw error
            }
            var error = error
            let folded = name.lowercased()
            // In another collection under this very name, or as an item's other commands would find it.
            let elsewhere = paths.filter { $0.name.utf8.elementsEqual(name.utf8) }
            if elsewhere.contains(where: { $0.collection == OpenItems.inbox }) {
                error.advice = "it is in the inbox: holdfast inbox accept makes it a record"
                throw error
            }
            let near: [String] =
                switch elsewhere.isEmpty ? ItemNames.find(folded, in: nil, among: paths) : .several(elsewhere) {
                case .one(let path): [Naming.record(path.name, path.collection)]
                case .several(let paths): paths.prefix(3).map { Naming.record($0.name, $0.collection) }
                case .none(let near): near.map { "\"\(Escaping.name($0))\"" }
                }
            if !near.isEmpty {
                error.advice = "this command takes whole names; did you mean \(near.joined(separator: " or "))?"
            }
            throw error
        }
    }

    /// Checks before anything is typed that a name is free.
    /// - Throws: `recordExists`, `invalidName`.
    func requireFree(_ name: String, in collection: String) throws(CommandError) -> RecordPath {
        let path = try Naming.check(name, collection)
        if try paths().contains(path) {
            throw CommandError(
                .failure, code: VaultError.Code.recordExists.description,
                "there is already an item \(Naming.record(name, collection))",
                advice: "choose another name, or change it with holdfast edit")
        }
        return path
    }
}

extension Item {
    /// The field that a text on the command line names: by its label in any case, or by the beginning of one label alone.
    /// - Throws: `fieldNotFound`, which says what the item has.
    borrowing func named(_ text: String) throws(CommandError) -> Field {
        if let field = field(text) { return field }
        let folded = text.lowercased()
        let all = fields
        let found = all.filter { $0.label.lowercased().hasPrefix(folded) }
        if found.count == 1 { return found[0] }
        let labels = all.map { "'\(Escaping.name($0.label))'" }.joined(separator: ", ")
        let near = Suggestion.nearest(to: folded, among: all.map { $0.label.lowercased() })
        let index = near.flatMap { near in all.firstIndex { $0.label.lowercased() == near } }
        throw CommandError(
            .notFound, code: "fieldNotFound", "no field '\(Escaping.name(text))' in this item",
            advice: index.map { "did you mean '\(Escaping.name(all[$0].label))'?" }
                ?? (labels.isEmpty ? "it has no fields" : "it has \(labels)"))
    }
}
