internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import SystemCalls

extension Place {
    static let recordName = Place(name: "NAME", kind: .item, help: whole)
    static let valueName = Place(name: "NAME", kind: .plainValue, help: whole)
    private static let whole = "The entry's name, with its folder: logins/mail."
}

extension Command {
    static let put = Command(
        "put", synonyms: ["set", "store", "save", "insert"], summary: "store a value from standard input",
        details: [
            "Stores everything from standard input, any bytes of any size. On a terminal it prompts for one line, "
                + "which is not shown. An existing value is replaced only with --replace; its tags stay.",
            "With --open nothing is unlocked: the value, at most 1 MiB, can be read by anyone who can read the "
                + "vault's folder, and moves to the inbox at the next unlock. With --write-only as well, only the "
                + "unlocked vault can read it.",
            "The passcode can also come from standard input, as the first line: --passcode-fd 0.",
        ],
        example: "holdfast put keys/backup",
        places: [.valueName],
        options: [
            Options.collection.option, Options.replace.option, Options.open.option, Options.writeOnly.option,
        ] + Options.unlocking,
        run: putValue)
}

private func putValue(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[Options.open] { return try OpenItems.put(arguments) }
    guard !arguments[Options.writeOnly] else { throw .usage("--write-only requires --open") }
    let isReplacing = arguments[Options.replace]
    let access = ItemAccess(arguments)
    let record = try access.target(arguments[place: 0])
    let path = record.path
    let size: UInt64
    var hasBegun = false
    do throws(CommandError) { size = try store(record, access, isReplacing: isReplacing, &hasBegun) } catch {
        switch error.code {
        case .recordExists: throw try access.explained(error, record)
        case .isItem where !hasBegun: return try replaceField(record, access)
        default: throw error
        }
    }
    Output.remark("Stored \(access.told(path)), \(Format.size(size)).")
    return .done
}

/// - Parameter hasBegun: Whether the value was asked for: it cannot be a second time.
private func store(
    _ record: NamedRecord, _ access: ItemAccess, isReplacing: Bool, _ hasBegun: inout Bool
) throws(CommandError) -> UInt64 {
    let path = record.path
    return try ItemNames.explaining(record) { () throws(CommandError) in
        let size = try access.use(changes: true) { agent, session in
            try putInput(record) { source in
                try agent.put(path, replacing: isReplacing) { bytes in
                    session.hasBegun = true
                    hasBegun = true
                    return try source(&bytes)
                }
            }
        }
        if let size { return size }
        let vault = try access.open().vault
        return try putInput(record) { source in
            try vault.put(
                path.name, in: path.collection, replacing: isReplacing,
                besides: path.entry.twins.compactMap(\.record)
            ) { bytes in
                hasBegun = true
                return try source(&bytes)
            }
        }
    }
}

/// The value of an item that is a plain one but for its tags: those stay.
private func replaceField(_ record: NamedRecord, _ access: ItemAccess) throws(CommandError) -> ExitCode {
    let found = FoundItem(record: record, item: try access.item(record.path))
    guard found.item.kind == .value, found.item.field(ItemStore.plainLabel) != nil else {
        throw CommandError(
            .failure, code: .isItem,
            "'\(record.written)' is a \(found.item.kind.word) with fields, not a plain value",
            advice: "holdfast edit changes them")
    }
    let value = try OpenItems.value(for: record.written)
    try access.change(found) { item throws(CommandError) in
        guard let field = item.field(ItemStore.plainLabel) else {
            throw .failure(.busy, "the value is gone; look again")
        }
        try vaultCall { try item.set(field, value) }
    }
    Output.remark("Stored \(record.written), \(Format.size(UInt64(value.count))).")
    return .done
}

extension ItemAccess {
    /// Why a new place is taken, where it is another entry that can be read as it.
    fileprivate func explained(_ error: CommandError, _ record: NamedRecord) throws(CommandError) -> CommandError {
        let names = try names()
        guard !names.contains(record.path.entry), let taken = names.taking(record.path.entry) else { return error }
        return ItemNames.taken(names.written([taken])[0])
    }
}

/// Hands the value to `store` as it is asked for: only once the vault has agreed to take it.
private func putInput(
    _ record: NamedRecord, _ store: ((inout MutableRawSpan) throws -> Int) throws -> UInt64
) throws(CommandError) -> UInt64 {
    if Descriptors.isTerminal(STDIN_FILENO) { return try putTyped(record, store) }
    let total = Descriptors.remainingSize(STDIN_FILENO)
    return try Progress.show("Storing") { progress throws(CommandError) in
        var done: UInt64 = 0
        return try vaultCall {
            try store { bytes in
                let count = try Descriptors.read(STDIN_FILENO, into: &bytes)
                done += UInt64(count)
                progress.update(done, of: total)
                return count
            }
        }
    }
}

private func putTyped(
    _ record: NamedRecord, _ store: ((inout MutableRawSpan) throws -> Int) throws -> UInt64
) throws(CommandError) -> UInt64 {
    guard let terminal = Terminal() else { throw .usage("there is no terminal to ask for the value") }
    return try vaultCall {
        // The first buffer is larger than any line.
        var isTaken = false
        return try store { output in
            if isTaken { return 0 }
            isTaken = true
            let value = try terminal.readSecret(
                prompt: "Value for \(record.written) (one line, not shown): ",
                capacity: min(longestLine, output.byteCount))
            value.withBytes { value in
                for offset in 0..<value.byteCount {
                    output.storeBytes(of: value.byte(at: offset), toByteOffset: offset, as: UInt8.self)
                }
            }
            return value.count
        }
    }
}

/// A terminal takes no longer line: 4,096 bytes with the newline and one that tells that there were more.
let longestLine = 4094
