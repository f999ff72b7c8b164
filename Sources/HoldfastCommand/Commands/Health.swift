internal import AgentMessages
internal import CommandLineArguments
internal import Cryptography
internal import Holdfast
internal import HoldfastAgent
internal import Items
internal import SystemCalls

extension Options {
    static let oldAfter = NumberOption(
        "old", HealthRule.days, default: HealthRule.standardDays,
        help: "Report passwords that were not changed for N days")
    static let breached = TextOption(
        "breached", "PATH", .file, help: "Also look for passwords in this list of breached ones, a file or a folder.")
}

extension Command {
    static let health = Command(
        "health", synonyms: ["audit", "watchtower"], summary: "find weak, reused, old and breached passwords",
        details: [
            "Reads all fields called password or passphrase, in locked memory, and reports passwords that are easily "
                + "guessed, that several entries have, or that are old. It stores nothing and asks no network. The "
                + "exit code is 9 if anything was found, and 0 if not.",
            "With FOLDER only what is in these folders is reported; a password that an entry elsewhere has too is "
                + "still reused. Plain values are not looked at, and entries with a tag such as ask-each-time are left "
                + "out and counted.",
            "With --breached, passwords are looked for in a list that you have: a file with lines SHA1 or SHA1:COUNT, "
                + "sorted by SHA-1 and of any size, or a folder with one file for each range, named by the first five "
                + "digits (21BD1 or 21BD1.txt), with lines REST:COUNT.",
            "Prints a table on a terminal; otherwise one line per finding with name, reason (breached, weak, reused or "
                + "old), field, and a detail, separated by tabs: how often it was seen, how strong it is, how many "
                + "entries have it, or since when it is the same (UTC).",
        ],
        example: "holdfast health --breached pwned-passwords-sha1-ordered-by-hash.txt",
        places: [
            Place(
                name: "FOLDER", kind: .inFolder, help: "Only report what is in this folder.", isRest: true)
        ],
        options: [Options.oldAfter.option, Options.breached.option, Options.json.option] + Options.unlocking,
        run: checkHealth)
}

private func checkHealth(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let path = arguments[Options.breached]
    let list = try path.map { path throws(CommandError) in
        // A list that cannot be read is told before the vault is opened.
        do throws(BreachListError) { return try BreachList(path) } catch { throw .list(error, path) }
    }
    let access = ItemAccess(arguments)
    let infos = try access.infos()
    let names = EntryNames(infos.map(\.entry))
    let folders = try arguments.places.map { text throws(CommandError) in try WantedFolder(text, infos, names, access) }
    let look = Look(
        rule: HealthRule(oldAfterDays: arguments[Options.oldAfter]), list: list, path: path ?? "", infos: infos
    ) { entry in folders.isEmpty || folders.contains { $0.has(entry) } }
    let remote: HealthReport? = try access.use { agent, _ in try look.through(agent) }
    let report = if let remote { remote } else { try look.through(access.open().store) }
    if arguments[Options.json] {
        try Output.write(report.json(names))
    } else {
        try report.show(names)
    }
    try report.tellLeftOut()
    return report.findings.isEmpty ? .done : .found
}

/// A folder that is reported.
private struct WantedFolder {
    private let text: String
    private let folder: EntryFolder?
    private let names: EntryNames

    /// - Throws: `recordNotFound` for a folder in which there is nothing.
    init(
        _ text: String, _ infos: [Vault.RecordInfo], _ names: EntryNames, _ access: ItemAccess
    ) throws(CommandError) {
        var text = text
        while text.hasSuffix("/") { text.removeLast() }
        self.text = text
        self.names = names
        folder = EntryFolder(parsing: text + "/")
        guard !infos.contains(where: { has($0.entry) }) else { return }
        if let first = folder?.first, first.utf8.count <= RecordName.maximumCollectionSize {
            try access.requireReach(of: first)
        }
        throw CommandError(
            .notFound, code: .recordNotFound, "there is no folder '\(Escaping.name(text))'",
            advice: "holdfast list --tree shows all folders")
    }

    func has(_ entry: EntryPath) -> Bool {
        entry.isIn(folder: text) || folder.map { names.has(entry, in: $0) } ?? false
    }
}

/// What is looked for, in a vault that this process or the agent has open.
private struct Look {
    let rule: HealthRule
    let list: BreachList?
    /// Of the list.
    let path: String
    let infos: [Vault.RecordInfo]
    let isWanted: (EntryPath) -> Bool

    func through(_ store: ItemStore) throws(CommandError) -> HealthReport {
        try Progress.show("Checking passwords") { progress throws(CommandError) in
            do throws(HealthError) {
                return try store.health(rule, against: list, where: isWanted, progress: { progress.update($0) })
            } catch { throw CommandError(error, path) }
        }
    }

    /// The agent asks its user before it hands out an item that is guarded, so those are not even read.
    func through(_ agent: borrowing AgentClient) throws(CommandError) -> HealthReport {
        let guarded = try vaultCall { try Look.guarded(agent) }
        let check = try vaultCall { try HealthCheck(rule, against: list) }
        return try Progress.show("Checking passwords") { progress throws(CommandError) in
            for (done, info) in infos.enumerated() where info.origin == .protected {
                progress.update(.reading(done: done, total: infos.count))
                let isWanted = isWanted(info.entry)
                guard info.isItem, let path = info.entry.record else {
                    check.addOther(isWanted: isWanted)
                    continue
                }
                guard !guarded.contains(info.entry) else {
                    check.addGuarded(isWanted: isWanted)
                    continue
                }
                try vaultCall {
                    do throws(VaultError) {
                        let item = try agent.item(path)
                        try check.add(item, at: info.entry, isWanted: isWanted)
                    } catch {
                        switch error.code {
                        // It became guarded meanwhile, or was removed.
                        case .notAllowed: check.addGuarded(isWanted: isWanted)
                        case .recordNotFound: break
                        default: throw error
                        }
                    }
                }
            }
            do throws(HealthError) { return try check.finish { progress.update($0) } } catch {
                throw CommandError(error, path)
            }
        }
    }

    private static func guarded(_ agent: borrowing AgentClient) throws(VaultError) -> Set<EntryPath> {
        var guarded: Set<EntryPath> = []
        for tag in try agent.tags() where AskRule(tags: [tag]) != .never {
            // A tag with spaces is no word of a search: what has all of its words is left out.
            let query = tag.contains(where: \.isWhitespace) ? tag : "#" + tag
            for found in try agent.find(query, in: nil) { guarded.insert(AgentClient.info(found).entry) }
        }
        return guarded
    }
}

extension Progress {
    fileprivate mutating func update(_ progress: HealthProgress) {
        switch progress {
        case .reading(let done, let total), .lookingUp(let done, let total): update(done, of: total)
        }
    }
}

extension CommandError {
    fileprivate init(_ error: HealthError, _ path: String) {
        switch error {
        case .vault(let error): self.init(error)
        case .list(let error): self = .list(error, path)
        }
    }

    fileprivate static func list(_ error: BreachListError, _ path: String) -> CommandError {
        var code = Code.input
        if case .unreadable(let error) = error, error.number == ENOENT { code = .noFile }
        return .failure(code, "\(Escaping.name(path)): \(error)")
    }
}

extension HealthReport {
    fileprivate func show(_ names: EntryNames) throws(CommandError) {
        let written = names.written(findings.map(\.entry))
        guard Descriptors.isTerminal(STDOUT_FILENO) else {
            return try Output.write(
                zip(findings, written).map { finding, name in
                    [name, finding.reason.word, Escaping.name(finding.label), finding.reason.detail]
                        .joined(separator: "\t") + "\n"
                }.joined())
        }
        if !findings.isEmpty {
            var table = Table(["NAME", "FIELD", "FOUND"])
            for (finding, name) in zip(findings, written) {
                table.append([name, Escaping.name(finding.label), finding.reason.sentence])
            }
            table.fit(Terminal.columns(STDOUT_FILENO), cutting: [0, 1])
            try Output.write(table.text(wrappedTo: Output.columns))
        }
        let count = Format.count(passwords, "password")
        Output.remark(
            findings.isEmpty
                ? "Nothing found in \(count)."
                : "\(Format.count(Set(findings.map(\.entry)).count, "entry needs", "entries need")) a better password; "
                    + "\(count) checked.")
    }

    /// What nobody should take for good.
    fileprivate func tellLeftOut() throws(CommandError) {
        if guarded > 0 {
            Output.note(
                "\(Format.count(guarded, "entry", "entries")) left out: a tag says that you are asked before use")
        }
        if withoutRange > 0 {
            Output.note(
                "\(Format.count(withoutRange, "password")) not looked up: the folder has no file for the range")
        }
        if outOfReach > 0 {
            Output.note(
                "\(Format.count(outOfReach, "collection")) not checked: the vault's policy demands a stronger unlock "
                    + "for it (holdfast lock-policy show)")
        }
    }

    fileprivate func json(_ names: EntryNames) -> JSON {
        let written = names.written(findings.map(\.entry))
        return .object([
            "findings": .array(zip(findings, written).map { $0.json(written: $1) }),
            "entries": .integer(Int64(entries)), "passwords": .integer(Int64(passwords)),
            "guarded": .integer(Int64(guarded)), "withoutRange": .integer(Int64(withoutRange)),
            "outOfReach": .integer(Int64(outOfReach)),
        ])
    }
}

extension HealthReport.Finding {
    fileprivate func json(written: String) -> JSON {
        var facts: [String: JSON] = [
            "path": .text(written), "collection": .text(entry.collection), "name": .text(entry.name),
            "field": .text(label), "reason": .text(reason.word),
        ]
        switch reason {
        case .breached(let times): facts["times"] = times.map { .count($0) } ?? .null
        case .weak(let level): facts["strength"] = .text(level.word)
        case .reused(let group, let entries):
            facts["group"] = .integer(Int64(group))
            facts["entries"] = .integer(Int64(entries))
        case .old(let since): facts["since"] = Format.timestamp(milliseconds: since).map { .text($0) } ?? .null
        }
        return .object(facts)
    }
}

extension HealthReport.Reason {
    /// For programs.
    fileprivate var word: String {
        switch self {
        case .breached: "breached"
        case .weak: "weak"
        case .reused: "reused"
        case .old: "old"
        }
    }

    /// For programs too.
    fileprivate var detail: String {
        switch self {
        case .breached(let times): times.map { "\($0)" } ?? "-"
        case .weak(let level): level.word
        case .reused(_, let entries): "\(entries)"
        case .old(let since): Format.timestamp(milliseconds: since) ?? "-"
        }
    }

    fileprivate var sentence: String {
        switch self {
        case .breached(let times?): "breached: seen \(Format.count(times, "time"))"
        case .breached(nil): "breached"
        case .weak(.veryWeak): "weak: guessed at once"
        case .weak: "weak: guessed in hours"
        // The number joins the entries that have the same one.
        case .reused(let group, let entries): "reused: password \(group + 1), in \(entries) entries"
        case .old(let since): "old: unchanged for \(Format.age(milliseconds: max(0, since)))"
        }
    }
}

extension PasscodeStrength.Level {
    fileprivate var word: String {
        switch self {
        case .none: "none"
        case .veryWeak: "very-weak"
        case .weak: "weak"
        case .fair: "fair"
        case .strong: "strong"
        }
    }
}
