internal import DeviceOwner
internal import Holdfast

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

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
    var request = Examination.Request(home: try HomeFolder.absolutePath(arguments))
    request.isDeep = arguments[Options.deep]
    if let address = arguments[Options.systemBus] {
        request.places.systemBus = BusAddress(address)
        request.places.daemonUser = geteuid()
        request.watch.system = request.places.systemBus
    }
    request.places.passcodeRules = arguments[Options.pamFolder]
    let findings = Examination.run(Examination.parts(request)) + advice(request)
    if arguments[Options.json] {
        try Output.write(
            .object(["parts": .array(findings.map(\.json)), "isDeep": .boolean(request.isDeep)]))
        return .done
    }
    var table = Table(["PART", "STATE", "GIVES", "FOUND"])
    for finding in findings {
        table.append([
            finding.part, finding.state.words, finding.assurance?.name ?? "-", Escaping.sentence(finding.words),
        ])
    }
    try Output.write(table.text)
    for finding in findings {
        if let fix = finding.fix { try Output.write("\(finding.part): \(Escaping.sentence(fix))\n") }
    }
    return .done
}

/// What there is to say of the vault itself; nothing where there is none.
private func advice(_ request: Examination.Request) -> [Finding] {
    guard Vault.isVault(at: request.home) else { return [] }
    let status: Vault.Status
    do throws(VaultError) { status = try Vault(at: request.home).status() } catch {
        return [Finding(part: "vault", state: .broken, words: error.reason, fix: "holdfast verify tells more")]
    }
    guard let assurance = status.passcodeAssurance else {
        return [
            Finding(
                part: "vault", state: .broken, words: "its passcode needs a chip that cannot be asked here",
                fix: "use the machine it was enrolled on, or the recovery phrase (holdfast recover)")
        ]
    }
    let issues = PolicyLinter(status).issues(status.policy).filter(\.isError)
    if let issue = issues.first {
        return [Finding(part: "vault", state: .broken, words: issue.words, fix: "holdfast lock-policy set")]
    }
    return [
        Finding(
            part: "vault", state: .good, assurance: assurance,
            words: status.hasHardwareShare
                ? "the passcode is under the TPM; a copy of the vault cannot be searched elsewhere"
                : "only the passcode's own strength protects a copy of the vault against a search",
            fix: status.hasHardwareShare
                ? nil : "holdfast enroll tpm puts the passcode under the TPM, where there is one")
    ]
}
