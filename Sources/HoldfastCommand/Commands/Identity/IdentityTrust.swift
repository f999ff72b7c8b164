internal import AgentMessages
internal import BetterAuth
internal import CommandLineArguments
internal import Holdfast

extension Command {
    static let identityTrust = Command(
        "identity", "trust", summary: "change the server's address, or which key to trust",
        details: [
            "Use this for an existing identity if its server has a new address (--server), signs with another key "
                + "(--new-response-key, or --authority KEY), or is endorsed by a key chain (--authority ID). Nothing "
                + "is sent. A wrong server can do harm: make sure that the information is genuine.",
            proofAdvice,
        ],
        example: "holdfast identity trust --server https://new.example",
        options: Options.identityProved, run: trustIdentity)
}

private func trustIdentity(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let named = [Options.server, Options.authority].contains { arguments[$0] != nil }
    guard named || arguments[Options.newResponseKey] else {
        throw .usage(
            "name a server (--server) or a key (--authority), or accept the server's new key (--new-response-key)")
    }
    let (access, proof) = try IdentityAccess.proving(arguments)
    let (client, trust) = try access.movedClient()
    guard try access.credentials().account != nil else { throw CommandError(IdentityWords.noAccount) }
    try access.run("Saving ...") { try await client.move(trusting: trust, proof: proof.take()) }
    return try tellIdentity(access.report(), arguments)
}
