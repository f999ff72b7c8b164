internal import AgentMessages
internal import BetterAuth
internal import BetterAuthMessages
internal import CommandLineArguments
internal import Holdfast

extension Place {
    fileprivate static let path = Place(name: "PATH", kind: .text, help: "The path, such as /foo/bar.")
    fileprivate static let data = Place(
        name: "JSON", kind: .text, help: "The request as JSON (default: standard input).", isOptional: true)
}

extension Command {
    static let identitySessionOpen = Command(
        "identity", "session", "open", summary: "open a session with the server",
        details: [
            "On a device that waits to be linked, this also shows whether it was accepted."
        ],
        example: "holdfast identity session open",
        options: [Options.json.option] + Options.identity, run: openSession)

    static let identitySessionRefresh = Command(
        "identity", "session", "refresh", summary: "refresh the session with its next key",
        details: [
            "If the response is lost, open a new session."
        ],
        example: "holdfast identity session refresh",
        options: [Options.json.option] + Options.identity, run: refreshSession)

    static let identitySessionClose = Command(
        "identity", "session", "close", summary: "close the session",
        details: [
            "Erases the session's keys. Nothing is sent; the token expires, and nobody can use it without the keys."
        ],
        example: "holdfast identity session close",
        options: Options.identity, run: closeSession)

    static let identityRequest = Command(
        "identity", "request", summary: "send a signed request to an app server",
        details: [
            "Posts JSON that is signed with the session's key, and prints the response after its signature was "
                + "verified. The JSON must be compact, without white space between its parts. Path and server are not "
                + "signed: if they matter, repeat them in the JSON."
        ],
        example: "holdfast identity request /foo/bar '{\"foo\":\"bar\"}' --at https://app.example",
        places: [.path, .data], options: [Options.at.option, Options.appKey.option] + Options.identity,
        run: requestAccess)
}

private func openSession(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let agent = ItemAccess(arguments)
    if let report = try agent.identity(.openSession) { return try tellIdentity(report, arguments) }
    let access = try IdentityAccess(agent)
    let client = try access.client()
    _ = try access.run { try await client.openSession() }
    return try tellIdentity(access.report(), arguments)
}

private func refreshSession(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let agent = ItemAccess(arguments)
    if let report = try agent.identity(.refreshSession) { return try tellIdentity(report, arguments) }
    let access = try IdentityAccess(agent)
    let client = try access.client()
    _ = try access.run { try await client.refreshSession() }
    return try tellIdentity(access.report(), arguments)
}

private func closeSession(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let agent = ItemAccess(arguments)
    guard try agent.identity(.endSession) == nil else { return .done }
    let access = try IdentityAccess(agent)
    let client = try access.client()
    try access.run("Closing ...") { try await client.endSession() }
    return .done
}

private func requestAccess(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let path = arguments[place: 0]
    guard ServerAddress.isPath(path) else { throw .usage("\(Escaping.sentence(path)) is not a path such as /foo/bar") }
    let bytes: [UInt8]
    if arguments.places.count > 1 {
        bytes = Array(arguments[place: 1].utf8)
    } else {
        bytes = try readInput("a request", limit: MessageLimits.applicationData)
    }
    let json = trimmed(bytes)
    let (target, key) = (arguments[Options.at], arguments[Options.appKey])
    let request = try AppRequest(path, target: target, key: key, arguments[Options.plainHTTP], json)
    let answer: [UInt8]
    let asked = IdentityCall.AppRequest(path: path, target: target, key: key)
    let agent = ItemAccess(arguments)
    if let given = try agent.request(asked, json) {
        answer = given
    } else {
        let access = try IdentityAccess(agent)
        let client = try access.client()
        answer = try access.run { try await request.send(by: client) }
    }
    try Output.write(String(decoding: answer, as: UTF8.self) + "\n")
    return .done
}

extension Command {
    static let identityStatus = Command(
        "identity", "status", summary: "show this device's identity",
        details: [
            "Does not ask a server. With --qr the identity is also drawn as a QR code, for a device that wants to "
                + "join."
        ],
        example: "holdfast identity status",
        options: [Options.qr.option, Options.json.option] + Options.unlocking, run: showIdentity)
}

private func showIdentity(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let access = ItemAccess(arguments)
    let report = if let known = try access.identity(.status) { known } else { try IdentityAccess(access).report() }
    let code = try tellIdentity(report, arguments)
    if arguments[Options.qr], report.publicKey != nil, let identity = report.identity {
        try IdentityWords.show(identity, arguments)
    }
    if report.isDrillDue {
        Output.remark("Do you still have the identity's recovery phrase? Check with holdfast identity drill.")
    }
    return code
}
