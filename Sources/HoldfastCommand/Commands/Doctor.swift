internal import DeviceOwner
internal import Holdfast
internal import HoldfastDoctor
internal import SystemCalls

extension Command {
    static let doctor = Command(
        "doctor", synonyms: ["diagnose"], summary: "look at what protects a vault on this machine",
        details: [
            "Looks at the memory, the TPM, the keyring, the fingerprint sensor, the passcode of the account and the session, "
                + "says what each of them gives, and how to get what is missing. Nobody is asked for anything, nothing is "
                + "changed, and it ends within five seconds also when a part gives no answer.",
            "With --deep what can be made to work is made to work and taken back: the TPM seals, signs and counts a wrong "
                + "attempt, keyring and folder take a share and give it back.",
            "--system-bus and --pam-folder look at parts of your own setup in place of the machine's. They change this "
                + "report only: what opens a vault is never taken from there.",
        ],
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
    var table = Table(["PART", "STATE", "GIVES", "FOUND"])
    for finding in findings {
        table.append([
            finding.part.rawValue, finding.state.words, finding.assurance?.name ?? "-",
            Escaping.sentence(finding.words),
        ])
    }
    try Output.write(table.text)
    for finding in findings {
        if let fix = finding.fix { try Output.write("\(finding.part.rawValue): \(Escaping.sentence(fix))\n") }
    }
    return .done
}

extension Finding.State {
    /// For people, in a column.
    fileprivate var words: String {
        switch self {
        case .good: "ok"
        case .unready: "not ready"
        case .missing: "missing"
        case .broken: "broken"
        case .slow: "no answer"
        }
    }
}

extension Finding {
    fileprivate var json: JSON {
        .object([
            "part": .text(part.rawValue), "state": .text(state.rawValue),
            "assurance": assurance.map { .text($0.name) } ?? .null, "words": .text(words),
            "fix": fix.map { .text($0) } ?? .null,
        ])
    }
}
