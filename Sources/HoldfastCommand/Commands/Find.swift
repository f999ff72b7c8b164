internal import CommandLineArguments
internal import AgentMessages
internal import Holdfast
internal import HoldfastAgent
internal import Items

extension Command {
    static let find = Command(
        "find", synonyms: ["search", "grep", "lookup"], summary: "find entries by words",
        details: [
            "Lists the entries that have all the words, in any order and any case, in their names, their tags or those fields "
                + "that are no secrets. '#work', in quotes for the shell, must be a whole tag. What has the words in its name comes first.",
            "The output is that of holdfast list. Through the agent, the first search after an unlock or a change reads every "
                + "entry; the index that it makes is in locked memory and goes with the lock.",
        ],
        example: "holdfast find mail work",
        places: [Place(name: "WORD", kind: .text, help: "What is looked for.", isRest: true)],
        options: [Options.long.option, Options.onlyCollection.option, Options.json.option] + Options.unlocking,
        run: findRecords)
}

private func findRecords(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let text = arguments.places.joined(separator: " ")
    guard !text.isEmpty else { throw .usage("give at least one word; holdfast list shows everything") }
    guard text.utf8.count <= RecordRequest.querySizes.upperBound else {
        throw .usage("the words have more than \(RecordRequest.querySizes.upperBound) bytes")
    }
    let access = ItemAccess(arguments)
    var found = try access.run { agent throws(VaultError) in
        try agent.find(text, in: nil).map { ListedRecord($0) }
    } own: { (items, _) throws(VaultError) in
        try items.search(ItemQuery(text)).map { ListedRecord($0) }
    }
    if let collection = arguments[Options.onlyCollection] { found = found.filter { $0.info.entry.isBelow(collection) } }
    guard !found.isEmpty || arguments[Options.json] else {
        Output.remark("Nothing found.")
        return .done
    }
    // How a name is written depends on all of them.
    let names = EntryNames(try access.infos().map(\.entry))
    return try showRecords(Array(zip(found, names.written(found.map(\.info.entry)))), arguments)
}
