internal import BetterAuthMessages
internal import BetterAuthServer
internal import CommandLineArguments
internal import SystemCalls

extension ServerCommand {
    private static let identityPlace = Place(name: "IDENTITY", kind: .text, help: "The identity of an account.")

    /// The commands for accounts: they ask the server that listens at `--socket`.
    static let accounts: [ServerCommand] = [
        account("count", "count the accounts and devices", optional: nil) { _ in .count },
        account(
            "list", "list accounts, 500 at a time",
            optional: Place(name: "AFTER", kind: .text, help: "Begin after this identity.", isOptional: true)
        ) { .list($0) },
        account("show", "show an account's state and devices", required: { .show($0) }),
        account("export", "print all that is stored of an account", required: { .export($0) }),
        account("lock", "lock an account and end its sessions", required: { .change(.lock, $0) }),
        account("unlock", "unlock an account", required: { .change(.unlock, $0) }),
        account("end-sessions", "end all sessions of an account", required: { .change(.endSessions, $0) }),
        account("delete", "delete an account for ever", required: { .change(.delete, $0) }),
    ]

    private static func account(
        _ word: String, _ summary: String,
        required request: @escaping @Sendable (IdentityID) -> AccountAdministration.Request
    ) -> ServerCommand {
        make(word, summary, [identityPlace]) { identity throws(UsageError) in
            guard let identity else { throw UsageError("IDENTITY is missing") }
            return request(identity)
        }
    }

    private static func account(
        _ word: String, _ summary: String, optional place: Place?,
        _ request: @escaping @Sendable (IdentityID?) -> AccountAdministration.Request
    ) -> ServerCommand {
        make(word, summary, place.map { [$0] } ?? []) { identity throws(UsageError) in request(identity) }
    }

    private static func make(
        _ word: String, _ summary: String, _ places: [Place],
        _ request: @escaping @Sendable (IdentityID?) throws(UsageError) -> AccountAdministration.Request
    ) -> ServerCommand {
        let place = places.first.map { $0.isOptional ? "" : " EAbc..." } ?? ""
        return ServerCommand(
            CommandSyntax(
                ["accounts", word], summary: summary,
                details: details[word] ?? [
                    "Asks the running server at --socket. Only its own user and root may."
                ],
                example: "holdfast-server accounts \(word)\(place) --socket /run/holdfast-server/admin.sock",
                places: places, required: [ServerOptions.socket.option], options: [ServerOptions.json.option])
        ) { arguments in
            var identity: IdentityID?
            if let text = arguments.places.first {
                guard let read = IdentityID(text) else { throw UsageError("\(text) is not an identity") }
                identity = read
            }
            return try AccountsClient.ask(request(identity), arguments)
        }
    }

    private static let details = [
        "lock": [
            "Its devices can do nothing and its sessions end at once; at application servers without revocations when "
                + "their tokens expire. Recovery is refused too. unlock takes it back."
        ],
        "delete": ["The identity can never be used again, not even by its owner. There is no way back."],
        "export": ["For a user's request for what is stored about them. The output contains no secret."],
    ]
}

enum AccountsClient {
    private static let largest = 1 << 20

    static func ask(_ request: AccountAdministration.Request, _ arguments: Arguments) throws -> ServerExit {
        let socket = try LocalSocket.connect(arguments.required(ServerOptions.socket))
        let line = Array((request.line + "\n").utf8)
        try unsafe socket.write(line.span.bytes)
        guard let bytes = try socket.readAll(limit: largest), bytes.last == UInt8(ascii: "\n") else {
            throw LocalSocket.Failure("the server ended the connection; its log says why")
        }
        let text = String(decoding: bytes.dropLast(), as: UTF8.self)
        let members = (try? ApplicationData(json: text))?.members() ?? [:]
        if let error = members["error"] {
            ServerOutput.complain("holdfast-server: \(words(error))\n")
            return .failure
        }
        ServerOutput.say(arguments[ServerOptions.json] ? text + "\n" : AccountsText.lines(members))
        return .done
    }

    /// A string without its quotation marks, and anything else as it is.
    static func words(_ data: ApplicationData) -> String {
        let text = String(decoding: data.bytes, as: UTF8.self)
        return text.hasPrefix("\"") ? String(text.dropFirst().dropLast()) : text
    }
}

/// Answers for people: one thing a line, and lists as tables.
private enum AccountsText {
    static func lines(_ members: [String: ApplicationData]) -> String {
        var text = ""
        var tables = ""
        for (name, value) in members.sorted(by: { order($0.key) < order($1.key) }) {
            let whole = AccountsClient.words(value)
            if whole.hasPrefix("[{") {
                tables += "\(name):\n\(table(whole))"
            } else {
                text += "\(name): \(whole == "null" ? "never" : whole)\n"
            }
        }
        return text + tables
    }

    /// A row for each object under the names of its members. Members of ours have no brace, bracket or comma in their texts.
    private static func table(_ list: String) -> String {
        let rows = list.dropFirst().dropLast().split(separator: "}").map { object in
            object.drop { $0 == "," || $0 == "{" }.replacing("\"", with: "").split(separator: ",").map { member in
                member.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            }
        }
        let names = (rows.first ?? []).map { $0[0] }
        let lines = [names] + rows.map { row in row.map { $0.count > 1 ? $0[1] : "" } }
        let widths = names.indices.map { column in lines.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return lines.map { line in
            let cells = line.enumerated().map { column, cell in
                let width = column < widths.count && column < line.count - 1 ? widths[column] : 0
                return cell + String(repeating: " ", count: max(0, width - cell.count))
            }
            return cells.joined(separator: "  ") + "\n"
        }.joined()
    }

    private static func order(_ name: String) -> String { name == "identity" || name == "done" ? "" : name }
}
