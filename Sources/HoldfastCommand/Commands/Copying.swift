internal import CommandLineArguments
internal import Holdfast
internal import SystemCalls

extension Options {
    static let generations = TextOption(
        "keep", "N", .number,
        help: "Keep the last N backups in the folder, each in a folder of its own with the date as name.")
    /// What every backup does today.
    static let update = Flag("update", "Bring an earlier backup in the folder up to date.", isHidden: true)
}

extension Command {
    static let backup = Command(
        "backup", summary: "copy the vault to a folder",
        details: [
            "Copies the vault, even while it is in use. The copy stays encrypted, so nothing is asked for; it opens "
                + "with the current passcode and recovery phrase. The folder is new, empty, or has an earlier backup of this "
                + "vault, which is brought up to date: files that did not change are kept, each byte verified, and the new "
                + "backup takes the earlier one's place when it is whole. Another vault's backup, a vault, and a backup that "
                + "was changed since are never replaced.",
            "With --keep N the folder has several backups, each in a folder of its own that is called by the date. The "
                + "oldest ones of this vault go when the new one is whole, after each byte of them was verified; nothing "
                + "else in the folder is touched, nor is one that is dated after tomorrow.",
        ],
        example: "holdfast backup /media/stick/vault",
        places: [Place(name: "DIR", kind: .folder, help: "The folder of the backup.")],
        options: [Options.generations.option, Options.update.option, Options.home.option, Options.json.option],
        run: makeBackup)

    static let restore = Command(
        "restore", summary: "create the vault from a backup",
        details: [
            "Compares the header, the entries and the files of a backup with what was written, byte by byte, and copies them to the "
                + "vault's folder. An existing vault is never overwritten.",
            "The security log and the count of attempts are copied as they are: wrong passcodes of the day of the backup "
                + "count. holdfast log verify checks the log.",
        ],
        example: "holdfast restore /media/stick/vault",
        places: [Place(name: "DIR", kind: .folder, help: "The folder of the backup.")],
        options: [Options.home.option, Options.json.option], run: restoreBackup)
}

private func makeBackup(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let vault = try Unlocking.find(arguments)
    let target = arguments[place: 0]
    if let limit = arguments[Options.generations].flatMap({ Int($0) }) {
        return try makeGeneration(vault, target, limit, arguments)
    }
    let report = try Progress.show("Copying") { progress throws(CommandError) in
        try backupCall {
            try vault.backup(to: target, updating: true) { done, total in progress.update(done, of: total) }
        }
    }
    return try tell(report, "backed up to", target, arguments)
}

private func makeGeneration(
    _ vault: Vault, _ folder: String, _ limit: Int, _ arguments: Arguments
) throws(CommandError) -> ExitCode {
    guard !arguments[Options.update] else { throw .usage("--update cannot be combined with --keep") }
    let report = try Progress.show("Copying") { progress throws(CommandError) in
        try backupCall {
            try vault.backup(generationsIn: folder, keeping: limit, time: Int64(time(nil))) { done, total in
                progress.update(done, of: total)
            }
        }
    }
    for name in report.left {
        Output.note("NOTE: \(Escaping.name(folder))/\(name) stays: it was changed after it was written, or is damaged")
    }
    for name in report.ahead {
        Output.note(
            "NOTE: \(Escaping.name(folder))/\(name) has a date after tomorrow, so it is not counted and stays; delete it if you do "
                + "not need it")
    }
    let members: [String: JSON] = [
        "removed": .integer(Int64(report.removed)), "left": .array(report.left.map { .text($0) }),
        "ahead": .array(report.ahead.map { .text($0) }),
    ]
    let removed = report.removed == 0 ? "" : "; removed \(Format.count(report.removed, "earlier backup"))"
    return try tell(report.copy, "backed up to", report.path, arguments, also: members, removed)
}

/// What can be done about a folder that a backup cannot be written to differs from what helps elsewhere.
private func backupCall<R>(_ body: () throws -> R) throws(CommandError) -> R {
    do throws(CommandError) {
        return try vaultCall(body)
    } catch {
        guard error.code == .exists else { throw error }
        var error = error
        error.advice = "name a folder that is new or empty, or an earlier backup of this vault"
        throw error
    }
}

private func restoreBackup(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let source = arguments[place: 0]
    let home = try HomeFolder.path(arguments)
    let report = try Progress.show("Copying") { progress throws(CommandError) in
        do throws(CommandError) {
            return try vaultCall {
                try Vault.restore(from: source, to: home) { done, total in progress.update(done, of: total) }
            }
        } catch {
            guard error.code == .noBackup,
                let newest = Vault.newestGeneration(in: source, at: Int64(time(nil)))
            else { throw error }
            var error = error
            error.advice = "the newest of the backups in it is \(ShellWord.quoted(newest))"
            throw error
        }
    }
    // Of the day of the backup: whoever does not expect that takes the delay for a fault.
    let status = try vaultCall { try Vault(at: home).status() }
    let members: [String: JSON] = [
        "remainingAttempts": .integer(Int64(status.remainingAttempts)),
        "retryAfterSeconds": status.retryAfter.map { .integer(Format.roundedUpSeconds($0)) } ?? .null,
    ]
    return try tell(report, "restored to", home, arguments, also: members, attempts(status))
}

/// Empty where no wrong passcode counts.
private func attempts(_ status: Vault.Status) -> String {
    guard status.refusedAttempts > 0 else { return "" }
    let wait = status.retryAfter.map { ", and the next one is possible in \(Format.wait($0))" } ?? ""
    return
        "\nattempts are as they were at the backup: \(status.remainingAttempts) of \(status.policy.attemptLimit) left\(wait)"
}

/// - Parameters:
///   - members: What JSON has beside the amount.
///   - rest: Follows the amount.
private func tell(
    _ report: Vault.CopyReport, _ what: String, _ path: String, _ arguments: Arguments,
    also members: [String: JSON] = [:],
    _ rest: String = ""
) throws(CommandError) -> ExitCode {
    if arguments[Options.json] {
        let amount: [String: JSON] = [
            "path": .text(path), "files": .integer(Int64(report.files)), "bytes": .count(report.bytes),
        ]
        try Output.write(.object(amount.merging(members) { $1 }))
    } else {
        let amount = "\(Format.count(report.files, "file")), \(Format.size(report.bytes))"
        try Output.write("\(what) \(Escaping.sentence(path)): \(amount)\(rest)\n")
    }
    return .done
}
