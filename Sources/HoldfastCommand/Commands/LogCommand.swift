internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import SystemCalls

extension Command {
    static let log = Command(
        "log", synonyms: ["journal", "history", "audit", "events"], summary: "show or verify the security log",
        details: [
            "Shows what happened to the vault: every unlock, failure, lock, and change of its policy and keys. Each "
                + "entry is verified. A terminal shows the local time; otherwise one line per entry with number, time "
                + "(UTC) and text, separated by tabs.",
            "holdfast log verify says where an entry was changed, removed, moved or cut off; the exit code is then 5. "
                + "It cannot detect that log and state were restored together to an earlier moment. With --key-out-fd "
                + "it also writes the key for holdfast_log_verify.py. Anyone with that key can read and forge "
                + "entries, so the PIN is not enough for it.",
        ],
        example: "holdfast log --last 20",
        places: [
            Place(name: "verify", kind: .word(["verify"]), help: "Only say whether it is intact.", isOptional: true)
        ],
        options: [Options.last.option, Options.keyOutDescriptor.option, Options.json.option] + Options.unlocking,
        run: showLog)
}

private func showLog(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let isVerifying = !arguments.places.isEmpty
    let last = arguments[Options.last].flatMap { Int($0) }
    guard !isVerifying || last == nil else { throw .usage("log verify checks every entry, so it has no option --last") }
    guard isVerifying || arguments[Options.keyOutDescriptor] == nil else {
        throw .usage("--key-out-fd is an option of log verify")
    }
    let report: SecurityLogReport
    if let descriptor = arguments[Options.keyOutDescriptor] {
        guard arguments[Options.pinDescriptor] == nil else {
            throw .usage(
                "the log's key requires the passcode or the recovery phrase; a PIN only unlocks")
        }
        let (vault, proof) = try Unlocking.openProving(arguments, evenIfDamaged: true)
        try writeKey(of: vault, proof, to: descriptor)
        report = try vaultCall { try vault.securityLog() }
    } else {
        report = try ItemAccess(arguments, evenIfDamaged: true).run { agent throws(VaultError) in
            try agent.securityLog()
        } own: { (_, vault) throws(VaultError) in
            try vault.securityLog()
        }
    }
    let shown = last.map { Array(report.entries.suffix($0)) } ?? report.entries
    if arguments[Options.json] {
        try Output.write(json(report, entries: isVerifying ? nil : shown))
    } else if isVerifying {
        try Output.write(text(report))
    } else {
        try Output.write(Descriptors.isTerminal(STDOUT_FILENO) ? table(shown) : lines(shown))
        for finding in report.findings { Output.note("the log was changed: \(finding.text)") }
    }
    return report.isIntact ? .done : .damaged
}

/// 72 hexadecimal digits for each epoch and a line feed, from locked memory.
private func writeKey(of vault: Vault, _ proof: ProofCarrier, to descriptor: Int32) throws(CommandError) {
    let key = try vaultCall { try vault.exportSecurityLogKey(proof: proof.take()) }
    var text = try secret(2 * key.count + 1)
    text.withMutableBytes { text in
        key.withBytes { key in
            for index in 0..<key.byteCount {
                for (place, digit) in [key.byte(at: index) >> 4, key.byte(at: index) & 15].enumerated() {
                    let letter = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                    text.storeBytes(of: letter, toByteOffset: 2 * index + place, as: UInt8.self)
                }
            }
            text.storeBytes(of: UInt8(ascii: "\n"), toByteOffset: 2 * key.byteCount, as: UInt8.self)
        }
    }
    try text.withBytes { text throws(CommandError) in try Descriptors.write(text, to: descriptor) }
}

private func table(_ entries: [SecurityLogEntry]) -> String {
    var table = Table(["ENTRY", "TIME", "WHAT"], rightAligned: [0])
    for entry in entries {
        table.append(["\(entry.index)", Format.localTime(milliseconds: entry.moment.time), LogText.of(entry.event)])
    }
    return table.text(wrappedTo: Output.columns)
}

private func lines(_ entries: [SecurityLogEntry]) -> String {
    entries.map { entry in
        let time = Format.timestamp(milliseconds: entry.moment.time) ?? "-"
        return "\(entry.index)\t\(time)\t\(LogText.of(entry.event))\n"
    }.joined()
}

private func text(_ report: SecurityLogReport) -> String {
    var kept = Format.count(report.entries.count, "entry", "entries")
    if let first = report.entries.first?.index, let last = report.entries.last?.index {
        kept += ", \(first) to \(last)"
    }
    var facts = [("kept", kept)]
    facts += report.findings.map { ("entry \($0.position)", $0.text) }
    facts += report.notes.map { ("note", $0) }
    facts.append(("result", report.isIntact ? "unchanged" : "changed"))
    return Facts.text(facts, wrappedTo: Output.columns)
}

private func json(_ report: SecurityLogReport, entries: [SecurityLogEntry]?) -> JSON {
    var members: [String: JSON] = [
        "isIntact": .boolean(report.isIntact), "kept": .count(UInt64(report.entries.count)),
        "findings": .array(
            report.findings.map { finding in
                .object([
                    "kind": .text(finding.kind.description), "entry": .count(finding.position),
                    "text": .text(finding.text),
                ])
            }),
        "notes": .array(report.notes.map { .text($0) }),
    ]
    if let entries { members["entries"] = .array(entries.map(\.json)) }
    return .object(members)
}

extension SecurityLogEntry {
    fileprivate var json: JSON {
        var members: [String: JSON] = [
            "entry": .count(index), "event": .text(event.name), "text": .text(LogText.of(event)),
            "time": Format.timestamp(milliseconds: moment.time).map { .text($0) } ?? .null,
            "boot": .text(moment.bootID.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()),
            "bootMilliseconds": .count(moment.bootMilliseconds),
        ]
        for detail in event.details { members[detail.name] = detail.value.json }
        return .object(members)
    }
}

extension SecurityEvent.Value {
    fileprivate var json: JSON {
        switch self {
        case .number(let number): .count(number)
        case .text(let text): .text(text)
        case .flag(let flag): .boolean(flag)
        case .time(let time): Format.timestamp(milliseconds: time).map { .text($0) } ?? .null
        case .list(let words): .array(words.map { .text($0) })
        }
    }
}
