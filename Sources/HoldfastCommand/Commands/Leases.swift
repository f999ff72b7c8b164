internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent

extension Command {
    static let leaseList = Command(
        "leases", "list", summary: "list what programs may use without asking you",
        details: [
            "An entry with the tag ask-each-time, ask-until-lock or ask-every-10m (1 to 1440 minutes) is given to a program only "
                + "after the agent has asked you. With ask-each-time every use is asked for; with the others, what you allow is a "
                + "lease for that program in that session, until the vault locks or for that time. A lock ends all leases.",
            "You are asked on the terminal that the program runs in, where you type the word that is shown; otherwise by pinentry.",
        ],
        example: "holdfast leases list", options: [Options.home.option, Options.json.option], run: listLeases)

    static let leaseAdd = Command(
        "leases", "add", summary: "let this program use an entry without asking again",
        details: [
            "Asks you once, so that the other commands of this session, such as run and inject, do not have to. Name an entry, or "
                + "with --tag all entries with a tag. Entries with the tag ask-each-time are still asked for each time."
        ],
        example: "holdfast leases add work/api --for 10min",
        places: [Place(name: "NAME", kind: .item, help: "The entry.", isOptional: true)],
        options: [
            Options.leaseTag.option, Options.leaseTime.option, Options.collection.option, Options.home.option,
        ],
        run: addLease)

    static let leaseRevoke = Command(
        "leases", "revoke", summary: "end leases",
        details: ["Ends the lease with this number, or all of them. The next use is asked for."],
        example: "holdfast leases revoke",
        places: [Place(name: "NUMBER", kind: .number, help: "The number that list shows.", isOptional: true)],
        options: [Options.home.option], run: revokeLeases)
}

/// Calls the agent. Leases are its own, so there are none without it.
/// - Returns: Nil without an agent.
private func withAgent<R>(
    _ arguments: Arguments, _ body: (borrowing AgentClient) throws(VaultError) -> R
) throws(CommandError) -> R? {
    try vaultCall {
        guard let agent = try AgentAccess.connect(arguments) else { return nil }
        return try body(agent)
    }
}

private func listLeases(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let leases = try withAgent(arguments) { agent throws(VaultError) in try agent.leases() } ?? []
    if arguments[Options.json] {
        try Output.write(.object(["leases": .array(leases.map(\.json))]))
        return .done
    }
    guard !leases.isEmpty else {
        Output.remark("There are no leases.")
        return .done
    }
    var table = Table(["NUMBER", "PROGRAM", "SESSION", "FOR", "ENDS"], rightAligned: [0, 2])
    for lease in leases {
        let target =
            switch lease.target {
            case .item(let path): path.entry.text
            case .tag(let tag): "#" + Escaping.name(tag)
            }
        let end = lease.remaining.map { "in \(Format.wait(.milliseconds(Int64(clamping: $0))))" } ?? "at the lock"
        table.append(["\(lease.number)", Escaping.name(lease.program), "\(lease.session)", target, end])
    }
    try Output.write(table.text)
    return .done
}

extension LeaseEntry {
    fileprivate var json: JSON {
        var json: [String: JSON] = [
            "number": .count(number), "program": .text(program), "session": .integer(Int64(session)),
            "endsInSeconds": remaining.map { .count($0 / 1000) } ?? .null,
        ]
        switch target {
        case .item(let path):
            json["collection"] = .text(path.collection)
            json["name"] = .text(path.name)
        case .tag(let tag): json["tag"] = .text(tag)
        }
        return .object(json)
    }
}

private func addLease(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let (tag, seconds) = (arguments[Options.leaseTag], arguments[Options.leaseTime].map(UInt32.init))
    let target: LeasedName
    if let tag {
        guard arguments.places.isEmpty else { throw .usage("use only one of NAME and --tag") }
        guard LeasedName.tagSizes.contains(tag.utf8.count) else { throw .usage("a tag has 1 to 64 bytes") }
        target = .tag(tag)
    } else {
        guard arguments.places.count == 1 else { throw .usage("name an entry, or a tag with --tag") }
        let listed = try withAgent(arguments) { agent throws(VaultError) in try agent.list(nil) } ?? []
        target = .item(
            try ItemAccess(arguments, listed: listed).resolve(arguments[place: 0], .part).path)
    }
    let isDone: Void? = try withAgent(arguments) { agent throws(VaultError) in
        try agent.introduce()
        try agent.lease(target, seconds: seconds)
    }
    guard isDone != nil else { throw CommandError(.locked) }
    Output.remark("Allowed.")
    return .done
}

private func revokeLeases(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    var number: UInt64?
    if let word = arguments.places.first {
        guard let parsed = UInt64(word) else { throw .usage("NUMBER must be one that holdfast leases list shows") }
        number = parsed
    }
    let count = try withAgent(arguments) { agent throws(VaultError) in try agent.revoke(number) } ?? 0
    guard number == nil || count > 0 else {
        throw CommandError(
            .notFound, code: .recordNotFound, "there is no such lease",
            advice: "holdfast leases list shows them")
    }
    Output.remark("Ended \(Format.count(Int(clamping: count), "lease")).")
    return .done
}
