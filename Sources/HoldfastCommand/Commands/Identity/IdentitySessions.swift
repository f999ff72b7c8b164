internal import BetterAuth
internal import BetterAuthMessages
internal import Holdfast

extension Place {
    fileprivate static let path = Place(name: "PATH", kind: .text, help: "Where it is posted, as /foo/bar.")
    fileprivate static let data = Place(
        name: "JSON", kind: .text, help: "What is asked; from standard input when not given.", isOptional: true)
}

extension Command {
    static let identitySessionOpen = Command(
        "identity", "session", "open", summary: "open a session with the server",
        details: ["On a device that waits to be linked this finds out whether it was."],
        options: [Options.json.option] + Options.identity, run: openSession)

    static let identitySessionRefresh = Command(
        "identity", "session", "refresh", summary: "go on with the session's next key",
        details: ["Where the answer gets lost, open a new session."],
        options: [Options.json.option] + Options.identity, run: refreshSession)

    static let identitySessionClose = Command(
        "identity", "session", "close", summary: "forget the session",
        details: ["The session's keys are erased. Nothing is sent; its token expires by itself and nobody can use it."],
        options: Options.identity, run: closeSession)

    static let identityRequest = Command(
        "identity", "request", summary: "ask an app server for something",
        details: [
            "Posts JSON, signed with the session's key, and prints the response once its signature was verified. The "
                + "JSON must be compact, without white space between its parts. Path and server are not signed: where they "
                + "matter, the JSON has to say them."
        ],
        places: [.path, .data], options: [Options.at.option, Options.appKey.option] + Options.identity,
        run: requestAccess)
}

private func openSession(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let access = try IdentityAccess(arguments)
    let client = try access.client()
    _ = try access.run { try await client.openSession() }
    return try tellIdentity(access, arguments)
}

private func refreshSession(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let access = try IdentityAccess(arguments)
    let client = try access.client()
    _ = try access.run { try await client.refreshSession() }
    return try tellIdentity(access, arguments)
}

private func closeSession(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let access = try IdentityAccess(arguments)
    let client = try access.client()
    try access.run("Closing ...") { try await client.endSession() }
    return .done
}

private func requestAccess(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let path = arguments[place: 0]
    guard ServerAddress.isPath(path) else { throw .usage("\(Escaping.sentence(path)) is no path, as /foo/bar") }
    let text = arguments.places.count > 1 ? Array(arguments[place: 1].utf8) : nil
    let appKey = try arguments[Options.appKey].map(IdentityAccess.key)
    var target: ServerAddress?
    if let text = arguments[Options.at] { target = try IdentityAccess.address(text, arguments) }
    let server = target
    let access = try IdentityAccess(arguments)
    let client = try access.client()
    let bytes: [UInt8]
    if let text { bytes = text } else { bytes = try readInput("a request", limit: MessageLimits.applicationData) }
    let data: ApplicationData
    do throws(MessageError) {
        data = try trimmed(bytes).withRawSpan { json throws(MessageError) in try ApplicationData(json: json) }
    } catch {
        throw .usage("this is no compact JSON (\(error))")
    }
    let trust = appKey.map { ResponseTrust.pinned([$0]) }
    let answer = try access.run {
        try await client.request(path, at: server, data, answer: ApplicationData.self, trust: trust)
    }
    try Output.write(String(decoding: answer.bytes, as: UTF8.self) + "\n")
    return .done
}
