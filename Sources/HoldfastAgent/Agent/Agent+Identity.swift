package import AgentMessages
internal import SecretMemory
package import VaultCore
package import VaultStorage

/// What works with the identity in an agent's vault. The agent has no server code of its own; the program that starts
/// it supplies this.
package protocol IdentityService: Sendable {
    /// Does what a client asks for. Runs on a thread that may wait.
    /// - Parameters:
    ///   - call: What is asked for.
    ///   - json: What an app server is asked; empty otherwise.
    ///   - notify: Hears what its client should be told.
    /// - Throws: ``VaultCore/VaultError``, with the code of whatever it was.
    func perform(
        _ call: IdentityCall, json: [UInt8], in vault: Vault, notify: @escaping @Sendable (String) -> Void
    ) throws(VaultError) -> IdentityOutcome
}

/// The outcome.
package enum IdentityOutcome: Sendable, Hashable {
    /// What is known of the identity now.
    case report(IdentityReport)
    /// What an app server answered, at most 64 KiB.
    case answer([UInt8])
}

extension Agent {
    /// Operations that need no proof; those that do have no message.
    func handle(_ call: IdentityCall, _ body: Body, _ connection: Connection) {
        guard let service = settings.identity else {
            return fail(connection, VaultError(.agentProtocol, "this agent does not support identities"))
        }
        let (number, completions) = (connection.number, completions)
        begin(connection, on: speaking) { vault in
            var json: [UInt8] = []
            if case .request(_, let range) = call.action {
                json = body.bytes.withBytes { bytes in
                    range.map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
                }
            }
            let outcome = try service.perform(call, json: json, in: vault) {
                completions.post(.say(number, .notice($0)))
            }
            switch outcome {
            case .report(let report): return ([try Packet(.identity(report))], .rest)
            case .answer(let answer):
                var packets: [Packet] = []
                if !answer.isEmpty {
                    let head = Reply.piece(0..<answer.count).head(payload: answer.count)
                    packets.append(try Packet(head, payload: unsafe answer.span.bytes))
                }
                packets.append(try Packet(.finished(UInt64(answer.count))))
                return (packets, .rest)
            }
        }
    }
}
