internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent

extension Command {
    static let complete = Command(
        "complete", summary: "list words for a shell's completion",
        details: [
            "Lists the names of the entries or of the plain values alone, the folders, the fields of an entry, the tags or the collections, a line "
                + "each, as long as an agent has the vault open. Behind the beginning of a name, names go on to their next folder. "
                + "It never asks for anything and says nothing about errors."
        ],
        example: "holdfast complete items",
        places: [
            Place(
                name: "WHAT", kind: .word(["items", "values", "folders", "fields", "tags", "collections"]),
                help: "What is listed."
            ),
            Place(
                name: "TEXT", kind: .any,
                help: "With fields: the entry. With items, values and folders: how the name begins.",
                isRest: true),
        ],
        options: [Options.home.option], run: listWords)
}

private func listWords(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    guard let agent = try? AgentAccess.connect(arguments) else { return .done }
    do {
        try Output.write(words(arguments, agent).map { $0 + "\n" }.joined())
    } catch { return .done }
    return .done
}

private func words(_ arguments: Arguments, _ agent: borrowing AgentClient) throws -> [String] {
    switch arguments[place: 0] {
    case "items": return try written(arguments, agent) { _ in true }
    case "values": return try written(arguments, agent) { !$0.isItem }
    case "folders": return try written(arguments, agent) { _ in true }.filter { $0.hasSuffix("/") }
    case "tags": return try agent.tags().filter(isWord)
    case "collections": return Set(try agent.list(nil).map(\.collection)).sorted().filter(isWord)
    default:
        guard let text = arguments.places.dropFirst().last else { return [] }
        let path = try ItemAccess(arguments, listed: agent.list(nil)).resolve(text, .part).path
        return try agent.item(path).fields.map(\.label).filter(isWord)
    }
}

/// The names of some records as they are typed, as far as the next folder where the beginning of one is known.
private func written(
    _ arguments: Arguments, _ agent: borrowing AgentClient, _ isListed: (Vault.RecordInfo) -> Bool
) throws -> [String] {
    let records = try agent.list(nil)
    let names = EntryNames(records.map(\.entry))
    let listed = zip(records, names.written()).compactMap { isListed($0) ? ($0.entry, $1) : nil }
    guard let begun = arguments.places.dropFirst().last else { return listed.map(\.1).filter(isWord) }
    var steps: [String] = []
    var seen: Set<String> = []
    for (entry, name) in listed where name.utf8.starts(with: begun.utf8) && isWord(name) {
        let step = NameTree.step(entry, name, behind: begun)
        if seen.insert(step).inserted { steps.append(step) }
    }
    return steps
}

/// Whether a shell can be shown it: a name may hold what a terminal acts on.
private func isWord(_ text: String) -> Bool { Escaping.sentence(text) == text }

extension Command {
    static let completions = Command(.completions(of: "holdfast")) { arguments throws(CommandError) in
        try Output.write(CommandTable.program.completions(for: arguments[place: 0]))
        return .done
    }
}
