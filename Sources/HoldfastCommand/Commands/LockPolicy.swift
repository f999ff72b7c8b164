internal import CommandLineArguments
internal import Holdfast

extension Command {
    static let lockPolicyShow = Command(
        "lock-policy", "show", synonyms: ["get", "list"], summary: "show the vault's policy",
        details: [
            "Prints every setting as holdfast lock-policy set takes it, and warnings about it. Nothing is asked for, so the settings are not "
                + "verified: the passcode opens the vault only with the policy it was set with."
        ],
        example: "holdfast lock-policy show",
        options: [Options.home.option, Options.json.option], run: showPolicy)
}

private func showPolicy(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let vault = try Unlocking.find(arguments)
    let report = PolicyReport(status: try vaultCall { try vault.status() })
    if arguments[Options.json] {
        try Output.write(report.json)
        return .done
    }
    try Output.write(Facts.text(report.facts))
    for issue in report.issues { try Output.write("\(issue.severity): \(Escaping.sentence(issue.words))\n") }
    return .done
}
