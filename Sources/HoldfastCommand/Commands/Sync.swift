internal import CommandLineArguments
internal import Holdfast
internal import HoldfastDoctor

extension Command {
    /// Refuses, and says what to do instead: people look for it.
    static let sync = Command(
        "sync", summary: "keep the vaults of two machines alike (not possible yet)",
        details: [
            "Refuses. A vault cannot be synced yet, neither by Holdfast nor by a program that syncs its folder: the files belong "
                + "together, and a sync replaces them one by one.",
            "Until then, carry a backup to the other machine: holdfast backup DIR here, and holdfast restore DIR there.",
        ],
        example: "holdfast backup /media/stick/vault",
        options: [Options.home.option, Options.json.option], run: refuseSync)
}

private func refuseSync(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    SyncedFolder.warn(try HomeFolder.absolutePath(arguments))
    throw CommandError(
        .notAllowed, code: .syncRefused, "vaults cannot be synced yet, and nothing was changed",
        advice: "holdfast backup DIR brings a copy up to date")
}
