internal import AgentMessages
internal import BetterAuth
internal import CommandLineArguments
internal import Holdfast

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
