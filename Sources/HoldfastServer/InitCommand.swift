internal import BetterAuthHTTP
internal import BetterAuthServer
internal import CommandLineArguments

extension ServerCommand {
    static let initialize = ServerCommand(
        "init", summary: "make a SQLite database and the server's keys",
        details: [
            "Makes what is missing, with mode 0600, and prints the key that signs responses. serve does the same at "
                + "its first start; init lets you see the key, or copy the keys to other machines, before that."
        ],
        example: "holdfast-server init --database accounts.db", required: [ServerOptions.database.option],
        options: [ServerOptions.keysFile.option, ServerOptions.keysIn.option], isConfigured: true, run: makeData)
}

private func makeData(_ arguments: Arguments) throws -> ServerExit {
    let database = try Maintenance.database(arguments)
    let path = try database.file(for: "init")
    let file = try ServedData.keyFile(arguments, database)
    let store = try SQLiteStore(path)
    defer { store.close() }
    if store.isNew { ServerOutput.say("Made \(path).\n") }
    let custody = try KeyCustody(
        file, of: store, Lifetimes(), takesNewKeys: false, ServerLog(.error),
        onNew: { ServerOutput.say("Made \($0).\n") })
    ServerOutput.say("\(custody.keys.responseKey(now: SystemClock().now).publicKey)\n")
    return .done
}
