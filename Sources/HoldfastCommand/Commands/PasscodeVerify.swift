internal import CommandLineArguments
internal import Holdfast

extension Command {
    static let passcodeCheck = Command(
        "passcode", "check", synonyms: ["test"], summary: "check the passcode",
        details: [
            "Says whether the passcode is correct and, if not, how many attempts are left. A wrong passcode is "
                + "counted as usual; the correct one resets the attempts."
        ],
        example: "holdfast passcode check",
        options: [Options.json.option, Options.home.option, Options.passcodeDescriptor.option], run: verifyPasscode)

    static let passcodeVerify = passcodeCheck.earlier(
        "passcode", "verify", successor: "holdfast passcode check")
}

private func verifyPasscode(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let input = SecretInput(arguments)
    try input.requirePasscodeSource()
    let vault = try Unlocking.find(arguments)
    let status = try Unlocking.refuseEarly(vault)
    try Unlocking.withPasscode(input, vault, status) { passcode throws(CommandError) in
        try vaultCall { try vault.verify(passcode: passcode, spending: vault.burnAttempt()) }
    }
    let remaining = try vaultCall { try vault.status() }.remainingAttempts
    if arguments[Options.json] {
        try Output.write(.object(["isCorrect": .boolean(true), "remainingAttempts": .integer(Int64(remaining))]))
    } else {
        try Output.write("the passcode is correct; \(Format.count(remaining, "attempt")) available\n")
    }
    return .done
}
