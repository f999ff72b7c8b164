internal import Holdfast
internal import Imports
internal import SystemCalls

/// What an import did, or would do.
struct ImportReport {
    private let isDry: Bool
    private let updates: Bool
    private let notes: [ImportNote]
    private var added: [(name: String, place: String)] = []
    private var same: [(name: String, of: String)] = []
    private var differing: [(name: String, labels: [String])] = []

    init(_ plan: ImportPlan, _ notes: [ImportNote], isDry: Bool) {
        (self.isDry, self.notes, updates) = (isDry, notes, plan.updates)
        for step in plan.steps {
            switch step {
            case .add(let item, let entry): added.append((entry.short, item.place))
            case .duplicate(let item, let entry): same.append((item.name, entry.short))
            case .differs(_, let entry, let labels): differing.append((entry.short, labels))
            }
        }
    }

    /// Whether the vault has everything as the file has it.
    var exit: ExitCode { notes.isEmpty && (updates || differing.isEmpty) ? .done : .partly }

    func write(isJSON: Bool) throws(CommandError) {
        if isJSON { return try Output.write(json) }
        if isDry {
            for (name, place) in added { try Output.write("add\t\(name)\t\(Escaping.name(place))\n") }
            for (name, other) in same { try Output.write("same\t\(Escaping.name(name))\t\(other)\n") }
            for (name, labels) in differing {
                let list = labels.map(Escaping.name).joined(separator: ", ")
                try Output.write("\(updates ? "update" : "differs")\t\(name)\t\(list)\n")
            }
        } else if !updates {
            for (name, labels) in differing {
                Output.note("the vault has another version: \(name): \(labels.joined(separator: ", "))")
            }
        }
        for group in ImportNoteGroup.groups(of: notes) { Output.note(ImportReport.line(group)) }
        try Output.write(summary + "\n", to: STDERR_FILENO)
    }

    /// Entries that a line names, at most.
    private static let most = 3

    /// One thing with its entry, or how many entries have the same.
    private static func line(_ group: ImportNoteGroup) -> String {
        let notes = group.notes
        guard notes.count > 1 else { return "\(group.kind.rawValue): \(notes[0].text)" }
        var named = notes.prefix(most).map { $0.entry.isEmpty ? $0.place : $0.entry }.joined(separator: ", ")
        if notes.count > most { named += " and \(notes.count - most) more" }
        return "\(group.kind.rawValue): \(group.what) (\(notes.count) times): \(named)"
    }

    private var summary: String {
        var parts = ["\(isDry ? "Would import" : "Imported") \(Format.count(added.count, "entry", "entries"))."]
        func entries(_ count: Int) -> String { Format.count(count, "entry", "entries") }
        if !same.isEmpty { parts.append("\(entries(same.count)) the vault has already.") }
        if !differing.isEmpty {
            parts.append(
                updates
                    ? "\(entries(differing.count)) \(isDry ? "would be updated" : "updated")."
                    : "\(entries(differing.count)) the vault has in another version; --update applies the differences.")
        }
        for kind in ImportNote.Kind.allCases {
            let count = notes.count { $0.kind == kind }
            if count > 0 { parts.append("\(Format.count(count, "thing")) \(kind.rawValue).") }
        }
        return parts.joined(separator: " ")
    }

    private var json: JSON {
        .object([
            "isDryRun": .boolean(isDry), "isUpdate": .boolean(updates),
            "added": .array(added.map { .text($0.name) }),
            "duplicates": .array(same.map { .object(["name": .text($0.name), "of": .text($0.of)]) }),
            "differing": .array(
                differing.map { .object(["name": .text($0.name), "fields": .array($0.labels.map { .text($0) })]) }),
            "notUnderstood": .array(
                notes.map { note in
                    .object([
                        "result": .text(note.kind.rawValue), "name": .text(note.entry), "place": .text(note.place),
                        "what": .text(note.what),
                    ])
                }),
        ])
    }
}
