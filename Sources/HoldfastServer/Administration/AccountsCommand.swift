internal import BetterAuthMessages
internal import BetterAuthServer
internal import CommandLineArguments
internal import SystemCalls

extension ServerCommand {
    private static let identityPlace = Place(name: "IDENTITY", kind: .text, help: "The identity of an account.")
    private static let devicePlace = Place(
        name: "DEVICE", kind: .text, help: "One of its devices, as accounts show names it.", isOptional: true)

    /// The commands for accounts: they ask the server that listens at `--admin-socket`, which may stand in its
    /// configuration.
    static let accounts: [ServerCommand] = [
        make("count", "count the accounts and devices", []) { _, _, _ in .count(after: nil) },
        make(
            "list", "list accounts, 500 at a time",
            [Place(name: "AFTER", kind: .text, help: "Begin after this identity.", isOptional: true)],
            hasClock: true
        ) { identity, _, clockWasAhead in .list(identity, clockWasAhead: clockWasAhead) },
        account("show", "show an account's state and devices", required: { .show($0) }),
        account("export", "print all that is stored of an account", required: { .export($0) }),
        account("lock", "lock an account and end its sessions", required: { .change(.lock, $0) }),
        account("unlock", "unlock an account", required: { .change(.unlock, $0) }),
        make(
            "end-sessions", "end all sessions of an account, or of one device", [identityPlace, devicePlace],
            hasClock: true
        ) { identity, device, clockWasAhead throws(UsageError) in
            guard let identity else { throw UsageError("IDENTITY is missing") }
            guard let device else { return .endSessions(identity, nil, clockWasAhead: clockWasAhead) }
            guard let read = DeviceID(device) else { throw UsageError("\(device) is not a device") }
            return .endSessions(identity, read, clockWasAhead: clockWasAhead)
        },
        account("delete", "delete an account for ever", required: { .change(.delete, $0) }),
    ]

    private static func account(
        _ word: String, _ summary: String,
        required request: @escaping @Sendable (IdentityID) -> AccountAdministration.Request
    ) -> ServerCommand {
        make(word, summary, [identityPlace]) { identity, _, _ throws(UsageError) in
            guard let identity else { throw UsageError("IDENTITY is missing") }
            return request(identity)
        }
    }

    /// - Parameter hasClock: Whether it has `--clock-was-ahead`.
    private static func make(
        _ word: String, _ summary: String, _ places: [Place], hasClock: Bool = false,
        _ request: @escaping @Sendable (IdentityID?, String?, Bool) throws(UsageError) -> AccountAdministration.Request
    ) -> ServerCommand {
        let place = places.first.map { $0.isOptional ? "" : " EAbc..." } ?? ""
        return ServerCommand(
            CommandSyntax(
                ["accounts", word], summary: summary,
                details: details[word] ?? [
                    "Asks the running server at --admin-socket, as this option or the server's own configuration "
                        + "(--config) names it. Only its own user and root may."
                ],
                example: "holdfast-server accounts \(word)\(place) --config /etc/holdfast-server/server.conf",
                places: places,
                options: [
                    ServerOptions.adminSocket.option, ServerOptions.config.option, ServerOptions.json.option,
                ] + (hasClock ? [ServerOptions.clockWasAhead.option] : []), isCompletedLater: true)
        ) { arguments in
            var identity: IdentityID?
            if let text = arguments.places.first {
                guard let read = IdentityID(text) else { throw UsageError("\(text) is not an identity") }
                identity = read
            }
            let clockWasAhead = hasClock && arguments[ServerOptions.clockWasAhead]
            return try AccountsClient.ask(
                request(identity, arguments.places.dropFirst().first, clockWasAhead), arguments)
        }
    }

    private static let details = [
        "lock": [
            "Its devices can do nothing and its sessions end at once; at application servers without revocations when "
                + "their tokens expire. Recovery is refused too. unlock takes it back."
        ],
        "delete": ["The identity can never be used again, not even by its owner. There is no way back."],
        "export": [
            "For a user's request for what is stored about them. The output contains no secret. It is JSON, on one line with "
                + "--json."
        ],
        "end-sessions": [
            "Tokens of before are void: at this server at once, at application servers without revocations when they "
                + "expire. Devices can open new sessions. With --clock-was-ahead what a clock that was ahead has "
                + "marked ends now, too: only once the clock is right."
        ],
    ]
}

enum AccountsClient {
    static func ask(_ request: AccountAdministration.Request, _ arguments: Arguments) throws -> ServerExit {
        var text = try answer(request, arguments)
        var members = try members(text)
        if case .count = request { (text, members) = try counted(members, arguments) }
        // A part without any that are looked for.
        while case .list(_, true) = request, members["accounts"].map(words) == "[]",
            let next = members["next"].flatMap({ IdentityID(words($0)) })
        {
            text = try answer(.list(next, clockWasAhead: true), arguments)
            members = try self.members(text)
        }
        if let error = members["error"] {
            ServerOutput.complain("holdfast-server: \(words(error))\n")
            return .failure
        }
        let isWhole = if case .export = request { true } else { false }
        guard !arguments[ServerOptions.json] else {
            ServerOutput.say(text + "\n")
            return .done
        }
        ServerOutput.say(isWhole ? IndentedJSON.text(text) : AccountsText.lines(members))
        return .done
    }

    /// The sum of all parts of a count.
    private static func counted(
        _ first: [String: ApplicationData], _ arguments: Arguments
    ) throws -> (text: String, members: [String: ApplicationData]) {
        var part = first
        var sum = AccountCounts()
        while part["error"] == nil {
            func number(_ name: String) -> Int { part[name].flatMap { Int(words($0)) } ?? 0 }
            var counts = AccountCounts()
            counts.open = number("open")
            counts.locked = number("locked")
            counts.deleted = number("deleted")
            counts.devices = number("devices")
            counts.unreadable = number("unreadable")
            sum.add(counts)
            guard let next = part["next"].flatMap({ IdentityID(words($0)) }) else {
                return (sum.json, try members(sum.json))
            }
            part = try members(answer(.count(after: next), arguments))
        }
        return ("", part)
    }

    private static func members(_ text: String) throws -> [String: ApplicationData] {
        let bytes = Array(text.utf8)
        guard let members = try? unsafe ApplicationData(json: bytes.span.bytes, limit: AdminSocket.largest).members()
        else { throw AdminSocket.Failure("the server's answer cannot be read") }
        return members
    }

    /// One line of JSON.
    private static func answer(_ request: AccountAdministration.Request, _ arguments: Arguments) throws -> String {
        try AdminSocket.ask(arguments[ServerOptions.adminSocket] ?? AdminServer.place, request.line)
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

    /// A row for each object under the names of its members. Members of ours have no brace, bracket or comma in their
    /// texts.
    private static func table(_ list: String) -> String {
        let rows = list.dropFirst().dropLast().split(separator: "}").map { object in
            object.drop { $0 == "," || $0 == "{" }.replacing("\"", with: "").split(separator: ",").map { member in
                member.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            }
        }
        // Those of the row that has most: what is seldom said stands at the end, and an account that cannot be read has
        // fewer.
        let names = (rows.max { $0.count < $1.count } ?? []).map { $0[0] }
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

/// JSON with a line for each member, for people to read and programs too.
enum IndentedJSON {
    /// - Parameter text: Compact JSON whose strings have no escapes.
    static func text(_ text: String) -> String {
        var result = ""
        var depth = 0
        var (isQuoted, isLineDue) = (false, false)
        func line() -> String { "\n" + String(repeating: "  ", count: depth) }
        for character in text {
            if !isQuoted, character == "}" || character == "]" {
                depth -= 1
                // Nothing between the two: they stay on one line.
                result += (isLineDue ? "" : line()) + String(character)
                isLineDue = false
                continue
            }
            if isLineDue { result += line() }
            isLineDue = false
            if character == "\"" { isQuoted.toggle() }
            result.append(character)
            guard !isQuoted else { continue }
            switch character {
            case ":": result += " "
            case "{", "[":
                depth += 1
                isLineDue = true
            case ",": isLineDue = true
            default: break
            }
        }
        return result + "\n"
    }
}
