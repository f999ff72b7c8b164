internal import CommandLineArguments
internal import Holdfast
internal import Items

/// What mv, cp and rm do with all of a folder, which is named with a slash at its end.
struct FolderWork {
    let folder: EntryFolder
    private let names: EntryNames
    private let records: [Vault.RecordInfo]
    private let access: ItemAccess

    /// Nil for a text that names no folder, and where an entry is called so.
    /// - Throws: `recordNotFound` for a folder in which there is nothing.
    init?(_ text: String, _ access: ItemAccess) throws(CommandError) {
        guard !access.isLiteral, let folder = EntryFolder(parsing: text) else { return nil }
        records = try access.infos()
        names = EntryNames(records.map(\.entry))
        if names.entry(text) != nil { return nil }
        guard names.has(folder) else {
            try access.requireReach(of: folder.first)
            throw CommandError(
                .notFound, code: .recordNotFound, "there is no folder '\(folder.text)'",
                advice: "holdfast list --tree shows all folders")
        }
        self.folder = folder
        self.access = access
    }

    /// Moves or copies it: into a folder that is there, else to that name.
    func place(_ new: String, isMoved: Bool) throws(CommandError) -> ExitCode {
        guard let named = EntryFolder(parsing: new) else {
            throw .usage("'\(folder.text)' is a folder, and so is where it goes: write \(ShellWord.quoted(new + "/"))")
        }
        guard let target = names.has(named) ? named.appending(lastOf: folder) : named else {
            throw ItemNames.noSuchPath
        }
        guard !target.isWithin(folder) else {
            throw CommandError(
                .usage, code: .invalidName,
                "'\(folder.text)' cannot go to '\(target.text)', which is the same or in it")
        }
        let action = isMoved ? FolderAction.move(folder, to: target) : .copy(folder, to: target)
        let plan = FolderPlan(action, records)
        try refuse(
            plan.large, "values of more than 1 MiB are not copied", "copy them with holdfast get and holdfast put")
        try refuse(plan.misfits, in: target)
        let count = Format.count(plan.changes.count, "entry", "entries")
        try confirm("\(isMoved ? "Move" : "Copy") \(count) of \(folder.text) to \(target.text)?", isRequired: false)
        try access.change(action, seen: plan)
        Output.remark("\(isMoved ? "Moved" : "Copied") \(count) to \(target.text).")
        return .done
    }

    /// Moves it to the trash, or removes it for good.
    /// - Parameter days: How long the trash keeps it; nil for not at all.
    func remove(days: Int?) throws(CommandError) -> ExitCode {
        let action = days.map { FolderAction.discard(folder, .seconds(Int64($0) * 86_400)) } ?? .remove(folder)
        let plan = FolderPlan(action, records)
        try refuse(
            plan.large, "values of more than 1 MiB do not go to the trash", "--for-good removes all of it at once")
        let count = Format.count(plan.changes.count, "entry", "entries")
        let question =
            days == nil ? "Remove \(count) of \(folder.text) for good?" : "Remove \(count) of \(folder.text)?"
        try confirm(question, isRequired: true)
        try access.change(action, seen: plan)
        Output.remark(
            days == nil ? "Removed \(count) of \(folder.text)." : "Moved \(count) of \(folder.text) to the trash.")
        return .done
    }

    /// - Throws: A usage error without a terminal where somebody has to say yes.
    private func confirm(_ question: String, isRequired: Bool) throws(CommandError) {
        guard !access.arguments[Options.yes] else { return }
        guard ItemNames.isSeen, let terminal = Terminal() else {
            if isRequired { throw .usage("no terminal to confirm on; use --yes to skip the confirmation") }
            return
        }
        try Confirmation.requireYes(question, on: terminal)
    }

    private func refuse(_ large: [EntryPath], _ what: String, _ advice: String) throws(CommandError) {
        guard !large.isEmpty else { return }
        throw CommandError(
            .failure, code: .tooLarge,
            "\(what): \(ItemNames.several(names.written(large))); nothing was done", advice: advice)
    }

    private func refuse(_ misfits: [FolderPlan.Misfit], in target: EntryFolder) throws(CommandError) {
        let taken = misfits.compactMap(\.target)
        guard taken.isEmpty else {
            throw CommandError(
                .failure, code: .recordExists,
                "there are already entries \(ItemNames.several(taken.map(\.text))); nothing was done",
                advice: "choose another folder")
        }
        guard let reason = misfits.first?.reason else { return }
        throw CommandError(
            .usage, code: .invalidName,
            "\(ItemNames.several(names.written(misfits.map(\.entry)))) cannot be called so in '\(target.text)': \(reason)"
        )
    }
}
