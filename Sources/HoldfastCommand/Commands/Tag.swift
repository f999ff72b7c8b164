internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast

extension Place {
    fileprivate static let tags = Place(name: "TAG", kind: .tag, help: "The tags.", isRest: true)
}

extension Command {
    static let tagList = Command(
        "tag", "list", summary: "list the tags in use",
        details: ["holdfast find '#TAG' lists the entries with a tag."], example: "holdfast tag list",
        options: [Options.json.option] + Options.unlocking, run: listTags)

    static let tagAdd = Command(
        "tag", "add", summary: "add tags to an entry",
        details: [
            "A plain value that gets a tag is still read by holdfast get, but no longer by programs with the library's value calls. A "
                + "misspelled one of the tags that "
                + "guard an entry (ask-each-time, ask-until-lock, ask-every-10m, no-forwarding) is refused."
        ],
        example: "holdfast tag add mail work",
        places: [.itemName, .tags], options: [Options.collection.option] + Options.unlocking,
        run: { arguments throws(CommandError) in
            try changeTags(arguments) { (item, tag) throws(VaultError) in try item.addTag(tag) }
        })

    static let tagRemove = Command(
        "tag", "remove", summary: "take tags away from an entry", details: ["The entry need not have them."],
        example: "holdfast tag remove mail work",
        places: [.itemName, .tags], options: [Options.collection.option] + Options.unlocking,
        run: { arguments throws(CommandError) in
            try changeTags(arguments) { (item, tag) throws(VaultError) in try item.removeTag(tag) }
        })
}

private func listTags(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let tags = try ItemAccess(arguments).tags()
    if arguments[Options.json] {
        try Output.write(.object(["tags": .array(tags.map { .text($0) })]))
    } else {
        try Output.write(tags.map { Escaping.name($0) + "\n" }.joined())
    }
    return .done
}

private func changeTags(
    _ arguments: Arguments, _ change: (inout Item, String) throws(VaultError) -> Void
) throws(CommandError) -> ExitCode {
    let tags = arguments.places.dropFirst()
    guard !tags.isEmpty else { throw .usage("give at least one tag") }
    let access = ItemAccess(arguments)
    let found = try access.find(arguments[place: 0], .lastPart)
    let before = found.item.tags
    var now: [String] = []
    try access.change(found) { item throws(CommandError) in
        for tag in tags { try vaultCall { try change(&item, tag) } }
        now = item.tags
    }
    if now == before { Output.note("nothing changed") }
    let shown = now.map { Escaping.name($0) }.joined(separator: ", ")
    Output.remark("\(found.record.written): \(shown.isEmpty ? "no tags" : shown)")
    return .done
}
