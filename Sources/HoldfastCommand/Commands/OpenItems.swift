internal import Holdfast
internal import SystemCalls

/// `put`, `get`, `list` and `rm` with `--open`: what is reached without the passcode.
enum OpenItems {
    /// - Throws: A usage error when something was given that only an unlocking takes.
    private static func check(_ arguments: Arguments) throws(CommandError) {
        for option in [Options.passcodeDescriptor.option, Options.phrase.option, Options.phraseDescriptor.option]
        where arguments.contains(option) {
            throw .usage("\(option.spelled) does not go with --open, which opens nothing")
        }
    }

    static func put(_ arguments: Arguments) throws(CommandError) -> ExitCode {
        try check(arguments)
        let (name, collection) = (arguments[place: 0], arguments.collection)
        let isSealed = arguments[Options.writeOnly]
        guard !isSealed || !arguments[Options.replace] else {
            throw .usage("--replace does not go with --write-only, which finds nothing that is there")
        }
        let open = try Unlocking.find(arguments).open
        let value = try value(for: Naming.record(name, collection))
        try Naming.explaining(name, collection) { () throws(CommandError) in
            try vaultCall {
                if isSealed {
                    try open.drop(value, for: name, in: collection)
                } else {
                    try open.put(value, for: name, in: collection, replacing: arguments[Options.replace])
                }
            }
        }
        let how = isSealed ? "only the unlocked vault reads it" : "anybody who reads this folder reads it"
        Output.remark("stored \(Naming.record(name, collection)), \(Format.size(UInt64(value.count))): \(how)")
        return .done
    }

    static func get(_ arguments: Arguments) throws(CommandError) -> ExitCode {
        try check(arguments)
        let (name, collection) = (arguments[place: 0], arguments.collection)
        let open = try Unlocking.find(arguments).open
        try Naming.explaining(name, collection) { () throws(CommandError) in
            try vaultCall {
                try open.withValue(for: name, in: collection) { try Descriptors.write($0, to: STDOUT_FILENO) }
            }
        }
        return .done
    }

    static func list(_ arguments: Arguments) throws(CommandError) -> ExitCode {
        try check(arguments)
        let open = try Unlocking.find(arguments).open
        return try showRecords(vaultCall { try open.records(in: arguments[Options.onlyCollection]) }, arguments)
    }

    static func remove(_ arguments: Arguments) throws(CommandError) -> ExitCode {
        try check(arguments)
        let name = arguments[place: 0]
        let open = try Unlocking.find(arguments).open
        // What is sealed to the vault has no collection that could be told; it has the name that the list shows.
        let records = try vaultCall { try open.records() }
        let isSealed = arguments[Options.collection] == nil && records.contains { $0.isSealed && $0.name == name }
        let collection = isSealed ? "" : arguments.collection
        try Naming.explaining(name, collection) { () throws(CommandError) in
            try vaultCall { try open.delete(name, in: collection) }
        }
        Output.remark("removed \(Naming.record(name, collection))")
        return .done
    }

    /// All of standard input, or one line that is typed.
    private static func value(for record: String) throws(CommandError) -> SecretBytes {
        var buffer = try secret(Vault.largestInlineValue + 1)
        if Descriptors.isTerminal(STDIN_FILENO) {
            guard let terminal = Terminal() else { throw .usage("there is no terminal to ask for the value on") }
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
    /// Tells what an unlock found in the open compartment.
    static func tellOpenItems(_ vault: Vault) {
        guard let report = vault.open.lastMigration, !report.isUneventful else { return }
        if report.moved > 0 {
            let items = Format.count(report.moved, "item")
            Output.remark("\(items) written while locked: holdfast inbox list")
        }
        if report.left > 0 { Output.remark("\(Format.count(report.left, "item")) more at the next unlock") }
        if let problem = report.problem {
            Output.note("what was written while locked stays where it is for now: \(problem.reason)")
        }
        if report.unreadable > 0 {
            let kept = report.isSetAside ? "; kept as open.mdb.damaged" : ""
            Output.note("some of what was written while locked cannot be read\(kept)")
        }
        if report.isAltered {
            Output.note("what was written while locked is not what Holdfast wrote: items are missing, added or older")
        }
        if report.publicKey == .replaced {
            Output.note(
                "WARNING: somebody had put another public key in place of the vault's (open.pub). What was stored with "
                    + "--write-only since the last unlock may be readable for him; the vault's own key is back")
        }
        if report.publicKey == .wrong {
            Output.note("open.pub does not hold the vault's public key, and cannot be written")
        }
    }
}
