internal import CommandLineArguments
internal import Holdfast
internal import Items
internal import VaultFormat

extension Command {
    static let adoptNames = Command(
        "vault", "adopt-names", synonyms: ["adopt"],
        summary: "give entries of earlier vaults the place that they show",
        details: [
            "Earlier vaults have entries such as logins/mail in the collection default. They are found and written as logins/mail, and nothing "
                + "has to be done. This command moves them to the collection logins for good, all at once.",
            "It lists the references that change, old and new, and asks. References of both kinds keep working. What allowed a program to use "
                + "such an entry has to be allowed again, and a minimum for the collection is then in effect for it. An entry whose place is taken, or "
                + "whose name no new entry can have, stays as it is.",
        ],
        example: "holdfast vault adopt-names",
        options: [Options.yes.option] + Options.unlocking, run: adoptOldNames)
}

private func adoptOldNames(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let access = ItemAccess(arguments)
    let records = try access.infos()
    let plan = FolderPlan(.adopt, records)
    let names = EntryNames(records.map(\.entry))
    for (misfit, written) in zip(plan.misfits, names.written(plan.misfits.map(\.entry))) {
        Output.note("'\(written)' stays: \(misfit.reason ?? "another entry has its place")")
    }
    guard !plan.changes.isEmpty else {
        Output.remark("No entry gets another place.")
        return .done
    }
    try Output.write(
        plan.changes.map { change in
            "\(reference(change.entry)) -> \(change.target.map(reference) ?? "")\n"
        }.joined())
    let count = Format.count(plan.changes.count, "entry", "entries")
    if !arguments[Options.yes] {
        guard ItemNames.isSeen, let terminal = Terminal() else {
            throw .usage("no terminal to confirm on; use --yes to skip the confirmation. Nothing was changed")
        }
        try Confirmation.requireYes("Give \(count) these places?", on: terminal)
    }
    try access.change(.adopt, seen: plan)
    Output.remark("Moved \(count).")
    return .done
}

/// What names an entry's main value elsewhere.
private func reference(_ entry: EntryPath) -> String {
    (try? SecretReference(collection: entry.collection, item: entry.name))?.text ?? entry.text
}
