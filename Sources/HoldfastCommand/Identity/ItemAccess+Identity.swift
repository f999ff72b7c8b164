internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent

// What the agent does with the identity for commands. It uses the server and the trust that are remembered.
extension ItemAccess {
    /// Has the agent do something with the identity, where it is there and unlocked.
    /// - Returns: Nil if the command has to open the vault itself: as with ``use(changes:_:)``, and if the command line
    ///   names a server or an authority.
    func identity(_ action: IdentityCall.Action) throws(CommandError) -> IdentityReport? {
        guard case .report(let report) = try ask(action, []) else { return nil }
        return report
    }

    /// Has the agent ask an app server.
    /// - Returns: The answer; nil as ``identity(_:)``.
    func request(_ request: IdentityCall.AppRequest, _ json: [UInt8]) throws(CommandError) -> [UInt8]? {
        guard case .answer(let answer) = try ask(.request(request, json: 0..<json.count), json) else { return nil }
        return answer
    }

    private func ask(_ action: IdentityCall.Action, _ json: [UInt8]) throws(CommandError) -> IdentityOutcome? {
        let isNamed = [Options.server, Options.authority, Options.keyService].contains { arguments[$0] != nil }
        guard !isNamed, !arguments[Options.newResponseKey] else { return nil }
        return try use { agent, session in
            guard try agent.status().isUnlocked else { throw VaultError(.locked, "the agent is locked") }
            // From here on it may have been done, whatever is heard of it.
            session.hasBegun = action != .status
            let call = IdentityCall(action, allowsPlain: arguments[Options.plainHTTP])
            var notices: [String] = []
            defer { for notice in notices { Output.note(notice) } }
            return try PassingNote.show(action == .status ? "Looking ..." : "Asking the server ...") {
                () throws(CommandError) in
                do {
                    return try agent.identity(call, json: json) { notices.append($0) }
                } catch let error as VaultError { throw CommandError(ofIdentity: error) } catch {
                    throw CommandError(error)
                }
            }
        }
    }
}
