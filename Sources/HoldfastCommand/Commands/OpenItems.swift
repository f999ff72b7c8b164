internal import VaultFormat
internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import Items
internal import SystemCalls
internal import OpenStorage

/// `put`, `get`, `list` and `rm` with `--open`: what is reached without the passcode.
enum OpenItems {
    /// The collection that an unlock moves open items to.
    static let inbox = Vault.inboxCollection

    /// - Throws: A usage error for options that are only for unlocking.
    private static func check(_ arguments: Arguments) throws(CommandError) {
        for option in [Options.passcodeDescriptor.option, Options.phrase.option, Options.phraseDescriptor.option]
        where arguments.contains(option) {
            throw .usage("\(option.spelled) cannot be combined with --open, which needs no secret")
        }
    }

    /// The item that a name means: one that can be seen, or a new one.
    private static func record(
        _ arguments: Arguments, _ open: OpenCompartment, isNew: Bool
    ) throws(CommandError) -> NamedRecord {
        let text = arguments[place: 0]
        if let collection = arguments[Options.collection] {
            guard let path = RecordName(collection: collection, name: text) else { throw ItemNames.noSuchPath }
            return NamedRecord(path)
        }
        let names = EntryNames(try vaultCall { try open.records() }.filter { !$0.isSealed }.map(\.entry))
        if let path = names.entry(text)?.record { return NamedRecord(path) }
        if isNew { return NamedRecord(try ItemNames.new(text)) }
        guard let path = EntryPath(parsing: text)?.record else { throw ItemNames.noSuchPath }
        return NamedRecord(path)
    }

    static func put(_ arguments: Arguments) throws(CommandError) -> ExitCode {
        try check(arguments)
        let isSealed = arguments[Options.writeOnly]
        guard !isSealed || !arguments[Options.replace] else {
            throw .usage("--replace cannot be combined with --write-only, which cannot see existing entries")
        }
        let open = try Unlocking.find(arguments).open
        let record = try record(arguments, open, isNew: true)
        let (name, collection) = (record.path.name, record.path.collection)
        let value = try value(for: record.written)
        try ItemNames.explaining(record) { () throws(CommandError) in
            try vaultCall {
                if isSealed {
                    try open.drop(value, for: name, in: collection)
                } else {
                    try open.put(value, for: name, in: collection, replacing: arguments[Options.replace])
                }
            }
        }
        let how = isSealed ? "Only the unlocked vault can read it" : "Anyone who can read this folder can read it"
        Output.remark("Stored \(record.written), \(Format.size(UInt64(value.count))). \(how).")
        return .done
    }

    static func get(_ arguments: Arguments) throws(CommandError) -> ExitCode {
        try check(arguments)
        let open = try Unlocking.find(arguments).open
        let record = try record(arguments, open, isNew: false)
        do throws(CommandError) {
            try ItemNames.explaining(record) { () throws(CommandError) in
                try vaultCall {
                    try open.withValue(for: record.path.name, in: record.path.collection) { bytes in
                        var value = ShownValue(isRaw: arguments[Options.raw])
                        try value.write(bytes)
                        try value.end()
                    }
                }
            }
        } catch {
            throw tellingOfSealed(error, open)
        }
        return .done
    }

    /// The name of a sealed item is known to the unlocked vault only.
    private static func tellingOfSealed(_ error: CommandError, _ open: OpenCompartment) -> CommandError {
        let count = (try? open.records())?.count(where: \.isSealed) ?? 0
        guard error.code == .recordNotFound, count > 0 else { return error }
        var error = error
        error.advice =
            "\(Format.count(count, "entry", "entries")) can be read only by the unlocked vault (--write-only): holdfast unlock, then "
            + "holdfast inbox list"
        return error
    }

    static func list(_ arguments: Arguments) throws(CommandError) -> ExitCode {
        try check(arguments)
        let open = try Unlocking.find(arguments).open
        let records = try vaultCall { try open.records(in: arguments[Options.onlyCollection]) }
        // What is sealed has a name of its own here, and no collection that is known.
        let listed = records.map { (ListedRecord($0), $0.isSealed ? Escaping.name($0.name) : $0.entry.text) }
        return try showRecords(listed, arguments)
    }

    static func remove(_ arguments: Arguments) throws(CommandError) -> ExitCode {
        try check(arguments)
        let open = try Unlocking.find(arguments).open
        // The collection of a sealed item is not known while the vault is locked; its name is the one that the list
        // shows.
        let name = arguments[place: 0]
        let records = try vaultCall { try open.records() }
        if arguments[Options.collection] == nil, records.contains(where: { $0.isSealed && $0.name == name }) {
            try vaultCall { try open.delete(name, in: "") }
            Output.remark("Removed \(Escaping.name(name)).")
            return .done
        }
        let record = try record(arguments, open, isNew: false)
        try ItemNames.explaining(record) { () throws(CommandError) in
            try vaultCall { try open.delete(record.path.name, in: record.path.collection) }
        }
        Output.remark("Removed \(record.written).")
        return .done
    }

    /// All of standard input, or one typed line.
    static func value(for record: String) throws(CommandError) -> SecretBytes {
        var buffer = try secret(Vault.largestInlineValue + 1)
        if Descriptors.isTerminal(STDIN_FILENO) {
            guard let terminal = Terminal() else { throw .usage("there is no terminal to ask for the value") }
            return try terminal.readSecret(
                prompt: "Value for \(record) (one line, not shown): ", capacity: longestLine)
        }
        var size = 0
        while size < buffer.count {
            let got = try buffer.withMutableBytes { bytes throws(CommandError) in
                try bytes.withPart(size..<bytes.byteCount) { part throws(CommandError) in
                    try Descriptors.read(STDIN_FILENO, into: &part)
                }
            }
            if got == 0 { break }
            size += got
        }
        return try buffer.prefix(size)
    }
}

extension Unlocking {
    /// Reports what an unlock found in the open compartment.
    static func tellOpenItems(_ vault: Vault) {
        guard let report = vault.open.lastMigration, !report.isUneventful else { return }
        if report.moved > 0 {
            let items = Format.count(report.moved, "entry", "entries")
            Output.remark("\(items) written while the vault was locked. See holdfast inbox list.")
        }
        if report.left > 0 {
            Output.remark("\(Format.count(report.left, "more entry", "more entries")) will follow at the next unlock.")
        }
        if let problem = report.problem {
            Output.note(
                "entries written while the vault was locked could not be moved to the inbox yet: \(problem.reason)")
        }
        if report.unreadable > 0 {
            let kept = report.isSetAside ? "; kept as open.mdb.damaged" : ""
            Output.note("some entries written while the vault was locked cannot be read\(kept)")
        }
        if report.isAltered {
            Output.note(
                "entries written while the vault was locked were changed by another program: some are missing, added or older"
            )
        }
        if report.publicKey == .replaced {
            Output.note(
                "WARNING: the vault's public key (open.pub) had been replaced. Whoever did this may be able to read what was "
                    + "stored with --write-only since the last unlock. The vault's own key is restored")
        }
        if report.publicKey == .wrong {
            Output.note("open.pub does not contain the vault's public key and cannot be rewritten")
        }
    }
}
