internal import CommandLineArguments
internal import AgentMessages
internal import Holdfast
internal import HoldfastAgent

extension Command {
    static let find = Command(
        "find", synonyms: ["search", "grep", "lookup"], summary: "find records by words",
        details: [
            "Lists the records that have all the words, in any order and any case, in their names, their tags or those fields "
                + "that are no secrets. #work must be a whole tag. What has the words in its name comes first.",
            "The output is that of holdfast list. Through the agent, the first search after an unlock or a change reads every "
                + "record; the index that it makes is in locked memory and goes with the lock.",
        ],
        example: "holdfast find mail work",
        places: [Place(name: "WORD", kind: .text, help: "What is looked for.", isRest: true)],
        options: [Options.onlyCollection.option, Options.json.option] + Options.unlocking, run: findRecords)
}

private func findRecords(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let text = arguments.places.joined(separator: " ")
    guard !text.isEmpty else { throw .usage("give at least one word; holdfast list shows everything") }
    guard text.utf8.count <= Request.querySizes.upperBound else {
        throw .usage("the words have more than \(Request.querySizes.upperBound) bytes")
    }
    let found = try find(text, arguments)
    guard !found.isEmpty || arguments[Options.json] else {
        Output.remark("Nothing found.")
        return .done
    }
    return try showRecords(found, arguments)
}

private func find(_ text: String, _ arguments: Arguments) throws(CommandError) -> [Vault.RecordInfo] {
    let collection = arguments[Options.onlyCollection]
    if (collection ?? "").utf8.count <= RecordName.maximumCollectionSize,
        let found = try AgentAccess.use(arguments, { agent, _ in try agent.find(text, in: collection) })
    {
        return found
    }
    let vault = try Unlocking.open(arguments)
    return try vaultCall {
        try ItemStore(vault).search(ItemQuery(text, in: collection)).map { match in
            Vault.RecordInfo(
                collection: match.collection, name: match.name, size: match.size, created: match.created,
                modified: match.modified, isFile: match.isFile, isItem: match.kind != nil, origin: .protected,
                isSealed: false)
        }
    }
}
