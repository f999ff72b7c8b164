internal import AgentMessages
internal import BetterAuth
internal import Holdfast

extension Command {
    static let identityStatus = Command(
        "identity", "status", summary: "show the identity of this device",
        details: ["Asks no server. With --qr the identity is drawn too, for a device that wants to be linked."],
        options: [Options.qr.option, Options.json.option] + Options.unlocking, run: showIdentity)
}

private func showIdentity(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let report: IdentityReport
    if let known = try AgentAccess.identity(arguments, .status) {
        report = known
    } else {
        report = try IdentityAccess(arguments).report()
    }
    let code = try tellIdentity(report, arguments)
    if arguments[Options.qr], report.publicKey != nil, let identity = report.identity {
        try IdentityWords.show(identity, arguments)
    }
    if report.isDrillDue { Output.remark("do you still have the identity's recovery phrase? holdfast identity drill") }
    return code
}
