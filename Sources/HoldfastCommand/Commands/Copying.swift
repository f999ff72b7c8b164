internal import CommandLineArguments
internal import Holdfast

extension Options {
    static let update = Flag("update", "Bring an earlier backup in the folder up to date.")
}

extension Command {
    static let backup = Command(
        "backup", summary: "copy the vault to a folder",
        details: [
            "Copies the vault, even while it is in use. The copy stays encrypted, so nothing is asked for; it opens "
                + "with the current passcode and recovery phrase. The folder must be new or empty.",
            "With --update it may have an earlier backup of this vault. Files that did not change are kept, each byte verified; the new "
                + "backup takes the earlier one's place when it is whole. One that was changed since is never replaced.",
        ],
        example: "holdfast backup /media/stick/vault",
        places: [Place(name: "DIR", kind: .folder, help: "The folder of the backup.")],
        options: [Options.update.option, Options.home.option, Options.json.option], run: makeBackup)

    static let restore = Command(
        "restore", summary: "create the vault from a backup",
        details: [
            "Compares the header, the records and the files of a backup with what was written, byte by byte, and copies them to the "
                + "vault's folder. An existing vault is never overwritten.",
            "The security log and the count of attempts are copied as they are; holdfast log verify checks the log.",
        ],
        example: "holdfast restore /media/stick/vault",
        places: [Place(name: "DIR", kind: .folder, help: "The folder of the backup.")],
        options: [Options.home.option, Options.json.option], run: restoreBackup)
}

private func makeBackup(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let vault = try Unlocking.find(arguments)
    let target = arguments[place: 0]
    let updates = arguments[Options.update]
    let report = try Progress.show("Copying") { progress throws(CommandError) in
        do throws(CommandError) {
            return try vaultCall {
                try vault.backup(to: target, updating: updates) { done, total in progress.update(done, of: total) }
            }
        } catch {
            guard error.code == VaultError.Code.exists.description, !updates else { throw error }
            var error = error
            error.advice = "--update brings an earlier backup of this vault up to date"
            throw error
        }
    }
    return try tell(report, "backed up to", target, arguments)
}

private func restoreBackup(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let source = arguments[place: 0]
    let home = try HomeFolder.path(arguments)
    let report = try Progress.show("Copying") { progress throws(CommandError) in
        try vaultCall { try Vault.restore(from: source, to: home) { done, total in progress.update(done, of: total) } }
    }
    return try tell(report, "restored to", home, arguments)
}

private func tell(
    _ report: Vault.CopyReport, _ what: String, _ path: String, _ arguments: Arguments
) throws(CommandError) -> ExitCode {
    if arguments[Options.json] {
        try Output.write(
            .object([
                "path": .text(path), "files": .integer(Int64(report.files)), "bytes": .count(report.bytes),
            ]))
    } else {
        let amount = "\(Format.count(report.files, "file")), \(Format.size(report.bytes))"
        try Output.write("\(what) \(Escaping.sentence(path)): \(amount)\n")
    }
    return .done
}
