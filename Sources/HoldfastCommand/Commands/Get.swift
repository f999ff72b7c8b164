internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import SystemCalls

extension Command {
    static let get = Command(
        "get", synonyms: ["read", "cat", "print"], summary: "write a value to standard output",
        details: [
            "Writes exactly the bytes that were stored. Each piece of a large value is verified before it is written; "
                + "the exit code says whether the value is complete.",
            "On a terminal, control characters, which a terminal would act on, are shown as \\u{...}, bytes that are no "
                + "text as \\xNN, and the last line is ended. --raw writes the bytes as they are there too.",
        ],
        example: "holdfast get mail --collection logins",
        places: [.valueName],
        options: [Options.collection.option, Options.raw.option, Options.open.option] + Options.unlocking,
        run: getValue)
}

private func getValue(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    if arguments[Options.open] { return try OpenItems.get(arguments) }
    let access = ItemAccess(arguments)
    let path = try access.whole(arguments[place: 0])
    let (name, collection) = (path.name, path.collection)
    let isQuiet = Descriptors.isTerminal(STDOUT_FILENO)
    try Progress.show("Reading", isAllowed: !isQuiet) { progress throws(CommandError) in
        try access.naming(name, in: collection) { () throws(CommandError) in
            var done: UInt64 = 0
            var value = ShownValue(isRaw: arguments[Options.raw])
            func pass(_ bytes: RawSpan) throws(CommandError) {
                try value.write(bytes)
                done += UInt64(bytes.byteCount)
                progress.update(done, of: nil)
            }
            if !access.isOpen {
                let isDone: Void? = try AgentAccess.use(arguments) { agent, session in
                    try agent.get(path) { bytes in
                        session.hasBegun = true
                        try pass(bytes)
                    }
                }
                if isDone != nil { return try value.end() }
            }
            let vault = try access.open().vault
            try vaultCall { try vault.read(name, in: collection) { try pass($0) } }
            try value.end()
        }
    }
    return .done
}
