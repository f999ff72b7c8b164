internal import CommandLineArguments
internal import Holdfast
internal import SystemCalls
internal import VaultSync

extension Options {
    static let onlyCompare = Flag("dry-run", "Only show what would be changed.")
    static let otherPasscode = DescriptorOption(
        "other-passcode-fd", "Read the other vault's passcode from file descriptor N, one line.")
    static let otherPhrase = DescriptorOption(
        "other-phrase-fd", "Use the other vault's recovery phrase, and read it from file descriptor N, one line.")
}

extension Command {
    static let merge = Command(
        "merge", summary: "bring what another vault has into this one",
        details: [
            "Takes what another vault has into this one: a backup of the second machine, an old backup, a vault that was restored "
                + "and used since. The other vault is opened with its own passcode, and nothing in it is changed but its log and its "
                + "count of attempts.",
            "Entries that both have become one: a field that only one has changed is there, and of two changes of one field one is "
                + "shown and the other is in the history (holdfast history list). Names, folders and the trash stay as they are "
                + "here. What was removed here, and is still there, comes back. A plain value that differs comes in under a name of "
                + "its own, with the other vault's number behind it; so do another entry of the same name, and versions that do not "
                + "fit into one entry.",
            "Everything is stored, or nothing; values of more than 1 MiB are stored first, one by one. Merging twice changes "
                + "nothing the second time.",
        ],
        example: "holdfast merge /media/stick/laptop --dry-run",
        places: [Place(name: "DIR", kind: .folder, help: "The other vault, or a backup of it.")],
        options: [
            Options.onlyCompare.option, Options.otherPasscode.option, Options.otherPhrase.option, Options.json.option,
        ] + Options.unlocking,
        run: mergeVault)
}

private func mergeVault(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let folder = arguments[place: 0]
    let theirs = try other(arguments)
    // What is no vault, or this one, is said before anything is typed.
    try ofOther(folder) { () throws(CommandError) in _ = try Unlocking.find(theirs) }
    guard try !isSameFolder(HomeFolder.path(arguments), folder) else {
        throw .usage("\(Escaping.name(folder)) is this vault itself; name another one")
    }
    let vault = try Unlocking.open(arguments, isForWhole: true)
    Output.remark("Now the other vault, \(Escaping.name(folder)):")
    let other = try ofOther(folder) { () throws(CommandError) in try Unlocking.open(theirs, isForWhole: true) }
    defer { other.lock() }
    let items = ItemStore(vault)
    let merge = try Progress.show("Comparing") { progress throws(CommandError) in
        try vaultCall { try VaultMerge(of: other, into: items) { progress.update($0, of: $1) } }
    }
    if !arguments[Options.onlyCompare] {
        try Progress.show("Merging") { progress throws(CommandError) in
            try vaultCall { try merge.store(in: items) { progress.update($0, of: merge.writes) } }
        }
    }
    try tell(merge, arguments)
    return .done
}

/// What is wrong with the other vault names it, and what helps with this one's is not said.
private func ofOther<R>(
    _ folder: String, _ body: () throws(CommandError) -> R
) throws(CommandError) -> R {
    do throws(CommandError) { return try body() } catch {
        var error = error
        error.what = "the other vault, \(Escaping.name(folder)): \(error.what)"
        error.advice =
            switch error.code {
            case .readOnly, .permissionDenied: "--other-phrase-fd N opens it for reading"
            default: nil
            }
        throw error
    }
}

private func isSameFolder(_ left: String, _ right: String) -> Bool {
    var (one, other) = (stat(), stat())
    guard unsafe stat(left, &one) == 0, unsafe stat(right, &other) == 0 else { return false }
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino
}

/// The arguments as they are for the other vault.
private func other(_ arguments: Arguments) throws(CommandError) -> Arguments {
    guard arguments[Options.otherPasscode] == nil || arguments[Options.otherPhrase] == nil else {
        throw .usage("use only one of --other-passcode-fd and --other-phrase-fd")
    }
    func given(_ option: DescriptorOption) -> String? { arguments[option].map { "\($0)" } }
    return arguments.replacing([
        (Options.home.option, arguments[place: 0]),
        (Options.passcodeDescriptor.option, given(Options.otherPasscode)),
        (Options.phraseDescriptor.option, given(Options.otherPhrase)),
        (Options.pinDescriptor.option, nil), (Options.phrase.option, nil), (Options.passcode.option, nil),
    ])
}

private func tell(_ merge: VaultMerge, _ arguments: Arguments) throws(CommandError) {
    var (added, changed, same): ([(EntryPath, EntryPath)], [EntryPath], Int) = ([], [], 0)
    var (beside, left): ([EntryPath], [(EntryPath, VaultMerge.Reason)]) = ([], [])
    for step in merge.steps {
        switch step {
        case .add(let place, let target): added.append((place, target))
        case .beside(let place, let target):
            added.append((place, target))
            beside.append(place)
        case .change(_, let known): changed.append(known)
        case .same: same += 1
        case .leave(let place, let reason): left.append((place, reason))
        }
    }
    let renamed = added.filter { $0.0 != $0.1 }
    if arguments[Options.json] {
        return try Output.write(
            .object([
                "isDryRun": .boolean(arguments[Options.onlyCompare]),
                "added": .array(added.map { .text($0.1.short) }), "changed": .array(changed.map { .text($0.short) }),
                "renamed": .array(
                    renamed.map { .object(["from": .text($0.0.short), "to": .text($0.1.short)]) }),
                "left": .array(
                    left.map { .object(["name": .text($0.0.short), "reason": .text($0.1.rawValue)]) }),
                "unreached": .array(merge.unreached.map { .text($0) }), "same": .integer(Int64(same)),
            ]))
    }
    if arguments[Options.onlyCompare] {
        for (_, target) in added { try Output.write("add\t\(target.short)\n") }
        for place in changed { try Output.write("change\t\(place.short)\n") }
    }
    for (place, target) in renamed {
        let why =
            beside.contains(place)
            ? "the two do not become one entry" : "its name is taken, or that of what is above it"
        Output.note("\(place.short) comes in as \(target.short): \(why)")
    }
    for (place, reason) in left { Output.note("\(place.short) stays there: \(reason.words)") }
    if !merge.unreached.isEmpty {
        let folders = merge.unreached.map(Escaping.name).joined(separator: ", ")
        Output.note("not reached by this way of opening the other vault: \(folders)")
    }
    func entries(_ count: Int) -> String { Format.count(count, "entry", "entries") }
    let verb = arguments[Options.onlyCompare] ? "Would add" : "Added"
    try Output.write(
        "\(verb) \(entries(added.count)), changed \(entries(changed.count)); the same here already: \(same).\n",
        to: STDERR_FILENO)
}

extension VaultMerge.Reason {
    fileprivate var words: String {
        switch self {
        case .largeSecret: "a program's large secret belongs to one of two versions"
        case .sameID: "another entry there has the same id"
        case .reserved: "it is in a folder of Holdfast's own"
        }
    }
}
