internal import AgentMessages
internal import BetterAuth
internal import Holdfast

extension Command {
    static let identityTrust = Command(
        "identity", "trust", summary: "name another server address, or whom to trust there",
        details: [
            "For an identity that there is already: its server has a new address (--server), signs with another key "
                + "(--new-response-key, or --authority KEY), or is vouched for by a key chain (--authority ID). Nothing is "
                + "sent. A wrong server can do harm, so be sure who told you.",
            proofAdvice,
        ],
        options: Options.identityProved, run: trustIdentity)
}

private func trustIdentity(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let named = [Options.server, Options.authority].contains { arguments[$0] != nil }
    guard named || arguments[Options.newResponseKey] else {
        throw .usage("name a server (--server), whom to trust (--authority), or take its new key (--new-response-key)")
    }
    let (access, proof) = try IdentityAccess.proving(arguments)
    let (client, trust) = try access.movedClient()
    guard try access.credentials().account != nil else { throw CommandError(IdentityWords.noAccount) }
    try access.run("Noting ...") { try await client.move(trusting: trust, proof: proof.take()) }
    return try tellIdentity(access.report(), arguments)
}
