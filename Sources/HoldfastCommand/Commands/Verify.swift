internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import OpenStorage

extension Command {
    static let verify = Command(
        "verify", synonyms: ["check", "fsck"], summary: "check everything that is stored",
        details: [
            "Reads every record and file, and reports what is damaged, missing, or older than expected. The exit code "
                + "is 5 if anything is.",
            "With --clean, and only if everything is intact, it also finishes an interrupted passcode change --rekey "
                + "and removes files that no record refers to (left by a killed write).",
        ],
        example: "holdfast verify --clean",
        options: [Options.clean.option, Options.json.option] + Options.unlocking, run: verifyVault)
}

private func verifyVault(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    // What is cleaned is cleaned by the process that has looked.
    let vault = arguments[Options.clean] ? try Unlocking.open(arguments, evenIfDamaged: true, isForWhole: true) : nil
    var result = if let vault { try check(vault) } else { try check(arguments) }
    var removed: Int?
    if let vault, result.isIntact {
        try finishRekey(vault)
        removed = try vaultCall { try vault.removeOrphanedFiles() }
        if vault.open.removeSetAside() { result.open.hasSetAside = false }
        result.orphanedFiles = max(0, result.orphanedFiles - (removed ?? 0))
    }
    if arguments[Options.json] {
        try Output.write(json(result, removed))
    } else {
        try Output.write(text(result, removed))
        if arguments[Options.clean] && !result.isIntact { Output.note("nothing was cleaned: the vault is damaged") }
    }
    return result.isIntact ? .done : .damaged
}

/// Through the agent where that is open.
private func check(_ arguments: Arguments) throws(CommandError) -> Vault.Verification {
    let access = ItemAccess(arguments, evenIfDamaged: true)
    let found: Vault.Verification? = try access.use { agent, _ in
        try Progress.show("Checking records") { progress throws(CommandError) in
            try vaultCall { try agent.verify { done, total in progress.update(done, of: total) } }
        }
    }
    if let found { return found }
    return try check(access.open().vault)
}

private func check(_ vault: Vault) throws(CommandError) -> Vault.Verification {
    try Progress.show("Checking records") { progress throws(CommandError) in
        try vaultCall { try vault.verify { done, total in progress.update(done, of: total) } }
    }
}

private func json(_ result: Vault.Verification, _ removed: Int?) -> JSON {
    .object([
        "isIntact": .boolean(result.isIntact), "records": .integer(Int64(result.records)),
        "expectedRecords": .count(result.expectedRecords), "files": .integer(Int64(result.files)),
        "damagedRecords": .integer(Int64(result.damagedRecords)),
        "damagedFiles": .array(result.damagedFiles.map(\.json)), "isRolledBack": .boolean(result.isRolledBack),
        "arePagesWhole": .boolean(result.arePagesWhole), "orphanedFiles": .integer(Int64(result.orphanedFiles)),
        "open": result.open.json, "removedFiles": removed.map { .integer(Int64($0)) } ?? .null,
    ])
}

private func openFacts(_ open: OpenCompartment.Check) -> [(String, String)] {
    var facts: [(String, String)] = []
    if open.items > 0 { facts.append(("open", "\(Format.count(open.items, "item")) intact, not in the inbox yet")) }
    if open.unreadable > 0 { facts.append(("open", "\(Format.count(open.unreadable, "place")) cannot be read")) }
    if open.isAltered { facts.append(("open", "items are missing, added, or older than expected")) }
    if open.publicKey == .replaced { facts.append(("open", "the public key is not the vault's own")) }
    if open.hasSetAside { facts.append(("leftovers", "open.mdb.damaged (harmless; --clean)")) }
    if !open.isIntact { facts.append(("", "the next unlock saves what can be read")) }
    return facts
}

extension OpenCompartment.Check {
    fileprivate var json: JSON {
        .object([
            "isIntact": .boolean(isIntact), "items": .integer(Int64(items)), "unreadable": .integer(Int64(unreadable)),
            "isAltered": .boolean(isAltered), "publicKey": .text(publicKey.rawValue),
            "hasSetAside": .boolean(hasSetAside),
        ])
    }
}

private func text(_ result: Vault.Verification, _ removed: Int?) -> String {
    var facts = [
        ("records", "\(result.records) of \(result.expectedRecords) intact"),
        ("files", "\(result.files) intact"),
    ]
    if result.damagedRecords > 0 { facts.append(("damaged", Format.count(result.damagedRecords, "record"))) }
    for file in result.damagedFiles {
        facts.append(("damaged file", file.entry.text))
    }
    if result.isRolledBack { facts.append(("rolled back", "records are missing, or older than expected")) }
    if !result.arePagesWhole { facts.append(("database", "its pages are inconsistent; nothing is written to it")) }
    if result.orphanedFiles > 0 {
        facts.append(
            ("leftovers", "\(Format.count(result.orphanedFiles, "file")) without a record (harmless; --clean)"))
    }
    facts += openFacts(result.open)
    if let removed, removed > 0 { facts.append(("removed", Format.count(removed, "leftover file"))) }
    let damage = result.isProtectedIntact ? "the open compartment is damaged" : "damaged; restore a backup"
    facts.append(("result", result.isIntact ? "intact" : damage))
    return Facts.text(facts, wrappedTo: Output.columns)
}
