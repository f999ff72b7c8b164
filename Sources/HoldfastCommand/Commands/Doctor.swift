internal import CommandLineArguments
internal import DeviceOwner
internal import Holdfast
internal import HoldfastDoctor
internal import SystemCalls

extension Command {
    static let doctor = Command(
        "doctor", synonyms: ["diagnose"], summary: "check what protects the vault on this machine",
        details: [
            "Checks memory, TPM, keyring, fingerprint sensor, account password and session. Says how strong each part "
                + "is and how to get what is missing. Asks for nothing, changes nothing, and ends within five seconds "
                + "even if a part does not respond.",
            "With --deep, each part is tested and the test undone: the TPM seals, signs, keeps and removes a key, and "
                + "counts a wrong attempt; keyring and folder store a key and return it.",
            "--system-bus and --pam-folder check parts of your own setup instead of the machine's. They affect only "
                + "this report: a vault is never opened with them.",
        ],
        example: "holdfast doctor --deep",
        options: [
            Options.deep.option, Options.systemBus.option, Options.pamFolder.option, Options.home.option,
            Options.json.option,
        ],
        run: examine)
}

private func examine(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    var request = Examination.Request(home: try HomeFolder.absolutePath(arguments), isDeep: arguments[Options.deep])
    if let address = arguments[Options.systemBus] {
        request.places.systemBus = BusAddress(address)
        request.places.daemonUser = geteuid()
        request.watch.system = request.places.systemBus
    }
    request.places.passcodeRules = arguments[Options.pamFolder]
    let findings = Examination.run(request)
    if arguments[Options.json] {
        try Output.write(
            .object(["parts": .array(findings.map(\.json)), "isDeep": .boolean(request.isDeep)]))
        return .done
    }
    try Output.say(Finding.verdict(findings))
    try Output.write("\n")
    var table = Table(["PART", "STATE", "STRENGTH", "FOUND"])
    for finding in findings {
        table.append([
            finding.part.words, finding.state.words, finding.assurance?.words ?? "-",
            Escaping.sentence(finding.words),
        ])
    }
    try Output.write(table.text(wrappedTo: Output.columns))
    for sentences in [findings.map(\.worth), findings.map(\.fix)] {
        for (finding, sentence) in zip(findings, sentences) {
            if let sentence { try Output.say("\(finding.part.words): \(sentence)", indent: 2) }
        }
    }
    return .done
}

extension Finding {
    fileprivate var json: JSON {
        .object([
            "part": .text(part.rawValue), "state": .text(state.rawValue),
            "assurance": assurance.map { .text($0.name) } ?? .null, "words": .text(words),
            "worth": worth.map { .text($0) } ?? .null, "fix": fix.map { .text($0) } ?? .null,
        ])
    }
}
