internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import HoldfastDoctor
internal import SyncFormat
internal import SystemCalls
internal import VaultSync

extension Options {
    static let deviceName = TextOption(
        "name", "NAME", help: "What this device is called (default: the machine's name).")
    static let codeDescriptor = DescriptorOption(
        "code-fd", "Read the invitation's words from file descriptor N, one line.")
    static let codeOutDescriptor = DescriptorOption(
        "code-out-fd", "Write the invitation's words to file descriptor N instead of the terminal.")
    static let nobodyIsAsked = Flag(
        "nobody-is-asked", "Join although this vault opens without asking: whoever has this machine has all entries.")
}

extension Command {
    static let syncAdd = Command(
        "sync", "add", synonyms: ["join", "init"], summary: "keep this vault and those of your other devices alike",
        details: [
            "DIR is a folder that something else carries between your devices: Syncthing, Nextcloud, rsync, git, a USB stick. What "
                + "Holdfast puts there is sealed, and nothing in it is trusted. The vault itself stays where it is, with its own "
                + "passcode: never put its folder there.",
            "On the first device DIR is empty, and this vault begins a group. Then run holdfast sync invite there, and this "
                + "command on the other device with the same folder: it asks for the seven words. A vault may use up to four "
                + "folders.",
            "A device that joins gives all its entries to the others, and gets theirs. Entries of both stay, also where names are "
                + "the same. The passcode is asked for again before that.",
        ],
        example: "holdfast sync add ~/Sync/holdfast",
        places: [Place(name: "DIR", kind: .folder, help: "The folder.")],
        options: [
            Options.deviceName.option, Options.codeDescriptor.option, Options.nobodyIsAsked.option, Options.json.option,
        ] + Options.provingTwice,
        run: addFolder)

    static let syncInvite = Command(
        "sync", "invite", summary: "let another device join",
        details: [
            "Shows seven words and waits up to ten minutes for the other device, where you type them in holdfast sync add DIR. Then "
                + "both show the same six words: compare them, and confirm here with your passcode.",
            "With --yes the six words are not compared: only where nobody else can have seen the seven.",
        ],
        example: "holdfast sync invite",
        options: [Options.yes.option, Options.codeOutDescriptor.option, Options.json.option] + Options.provingTwice,
        run: inviteDevice)

    static let syncStatus = Command(
        "sync", "status", synonyms: ["show", "list"],
        summary: "show the devices, the folders, and what stands in the way",
        details: [
            "The four words at the end are of everything that was taken: two devices that show the same words have the same entries."
        ],
        example: "holdfast sync status",
        options: [Options.json.option] + Options.unlocking, run: showStatus)

    static let syncNow = Command(
        "sync", "now", summary: "take what other devices left in the folder, and leave what changed here",
        details: [
            "Shows the status afterwards. The exit code is 1 where a folder could not be used."
        ],
        example: "holdfast sync now",
        options: [Options.json.option] + Options.unlocking, run: doRounds)

    static let syncRemove = Command(
        "sync", "remove", synonyms: ["rm"], summary: "remove a device, or a folder",
        details: [
            "A device that is removed keeps what it has. What changes from now on it cannot read, and what it writes is not taken. "
                + "Change the passwords that somebody who has it must not use.",
            "A folder, written with a / in it, is not used any more by this device; the files in it stay.",
        ],
        example: "holdfast sync remove phone",
        places: [
            Place(name: "NAME", kind: .text, help: "The device, by its name or the beginning of its id; or the folder.")
        ],
        options: [Options.yes.option, Options.json.option] + Options.proving, run: removeFromSync)

    static let syncLeave = Command(
        "sync", "leave", summary: "stop syncing this vault",
        details: [
            "All entries stay here. The other devices have to remove this one, or it stays in their list: holdfast sync remove."
        ],
        example: "holdfast sync leave",
        options: [Options.yes.option, Options.json.option] + Options.proving, run: leaveGroup)
}

private func addFolder(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let path = absolute(arguments[place: 0])
    let name = try SyncAccess.deviceName(arguments)
    SyncedFolder.warn(try HomeFolder.absolutePath(arguments))
    let (vault, proof) = try Unlocking.openProving(arguments)
    if let home = try syncCall({ () throws(SyncError) in try GroupHome.load(vault) }) {
        guard home.roads.count < SyncLimits.roads || home.roads.values.contains(where: { $0.path == path }) else {
            throw .usage("this vault uses \(SyncLimits.roads) folders, which is the most; remove one first")
        }
        try syncCall { () throws(SyncError) in
            try inFolder { () throws(RoadError) in _ = try FolderRoad.create(at: path, for: home.group) }
            _ = try home.add(folder: path)
        }
    } else if try isRoad(path) {
        try join(path, name, vault, arguments)
    } else {
        try begin(path, name, vault, proof)
    }
    let status = try SyncAccess.rounds(vault, arguments)
    try status.tell(arguments)
    if status.members.count == 1 {
        Output.remark("Next: holdfast sync invite, and holdfast sync add DIR on the other device.")
    }
    return status.exit
}

/// Makes the vault the first of a group. The folder comes first: one that cannot be used leaves nothing behind.
private func begin(
    _ path: String, _ name: String, _ vault: Vault, _ proof: ProofCarrier
) throws(CommandError) {
    try vaultCall { try vault.redeem(proof.take()) }
    try syncCall { () throws(SyncError) in
        try inFolder { () throws(RoadError) in try FolderRoad.checkCanBegin(at: path) }
        let home = try GroupHome.found(in: vault, name: name)
        _ = try home.add(folder: path)
        try inFolder { () throws(RoadError) in _ = try FolderRoad.create(at: path, for: home.group) }
    }
}

private func join(
    _ path: String, _ name: String, _ vault: Vault, _ arguments: Arguments
) throws(CommandError) {
    guard try !Unlocking.asksNobody(vault) || arguments[Options.nobodyIsAsked] else {
        throw CommandError(
            .usage, code: .usage,
            "this vault opens without asking: whoever has this machine would have all entries of the group",
            advice: "use \(Options.nobodyIsAsked.option.spelled), or holdfast enroll passcode first")
    }
    let code = try enteredCode(arguments)
    let joining: FolderJoining
    do throws(SyncError) { joining = try FolderJoining(folder: path, name: name, code) } catch {
        throw CommandError(error)
    }
    Output.remark("Looking for the invitation in \(Escaping.name(path)) ...")
    var isTold = false
    try SyncAccess.wait { () throws(SyncError) -> Void? in
        let found = try joining.lookForInvitation()
        if !found, joining.hasOthers, !isTold {
            isTold = true
            Output.note("these words open no invitation in the folder yet; check them, or wait for your sync tool")
        }
        return found ? () : nil
    }
    let words = try syncCall { () throws(SyncError) in try joining.comparingWords() }
    try Output.write("Compare, the other device shows the same: ", to: STDERR_FILENO)
    try words.withBytes { words throws(CommandError) in try Descriptors.write(words, to: STDERR_FILENO) }
    try Output.write("\n", to: STDERR_FILENO)
    Output.remark("Confirm them on the other device.")
    let others = try SyncAccess.wait { () throws(SyncError) in try joining.lookForWelcome() }
    // Those of the trash have names that nobody sees.
    let count = try vaultCall { try vault.records() }.filter { $0.name.utf8.first != 0 }.count
    Output.remark(
        "This device gives \(Format.count(count, "entry", "entries")) to \(others.map(Escaping.name).joined(separator: ", ")), "
            + "and gets theirs.")
    let proof = try Unlocking.proveAgain(arguments, vault, from: SecretInput(arguments))
    try vaultCall { try vault.redeem(proof.take()) }
    _ = try syncCall { () throws(SyncError) in try joining.join(vault) }
}

private func enteredCode(_ arguments: Arguments) throws(CommandError) -> InvitationCode {
    let capacity = SecretInput.longestPhrase
    if let descriptor = arguments[Options.codeDescriptor] {
        let line = try SecretInput.line(descriptor, capacity, "the invitation's words")
        do throws(RecoveryPhraseError) { return try InvitationCode.entered(line) } catch { throw CommandError(error) }
    }
    guard let terminal = Terminal() else {
        throw .usage("there is no terminal to ask for the invitation's words; use --code-fd N")
    }
    while true {
        let line = try terminal.readSecret(
            prompt:
                "The \(InvitationCode.words) words that holdfast sync invite shows on the other device (not shown): ",
            capacity: capacity)
        do throws(RecoveryPhraseError) { return try InvitationCode.entered(line) } catch { Output.note("\(error)") }
    }
}

private func inviteDevice(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    guard arguments[Options.codeOutDescriptor] != nil || Terminal.isThere else {
        throw .usage("there is no terminal to show the words on; use --code-out-fd N")
    }
    try Confirmation.require(arguments)
    let vault = try Unlocking.open(arguments, isForWhole: true)
    try syncCall { () throws(SyncError) in try FolderRound.beforeChange(of: vault, isAdding: true) }
    let home = try SyncAccess.home(vault)
    guard let place = home.roads.keys.min() else { throw noFolder }
    let invitation = try syncCall { () throws(SyncError) in
        try FolderInvitation(home, over: place, InvitationCode.drawWords(), uptime: MonotonicClock.milliseconds)
    }
    do throws(CommandError) {
        try show(invitation.code, arguments)
        try SyncAccess.wait { () throws(SyncError) -> Void? in
            switch try invitation.look(uptime: MonotonicClock.milliseconds) {
            case .waiting: nil
            case .compares, .welcomed: ()
            case .ended(let end): throw .invitationEnded(end)
            }
        }
        try compare(invitation, arguments)
        let proof = try Unlocking.proveAgain(arguments, vault, from: SecretInput(arguments))
        try vaultCall { try vault.redeem(proof.take()) }
        try syncCall { () throws(SyncError) in
            try invitation.admit(into: vault, areEqual: true, uptime: MonotonicClock.milliseconds)
        }
    } catch {
        try? invitation.takeBack()
        throw error
    }
    let status = try SyncAccess.rounds(vault, arguments)
    try status.tell(arguments)
    return status.exit
}

private func show(_ code: borrowing InvitationCode, _ arguments: Arguments) throws(CommandError) {
    if let descriptor = arguments[Options.codeOutDescriptor] {
        try code.withBytes { words throws(CommandError) in try Descriptors.write(words, to: descriptor) }
        return try Output.write("\n", to: descriptor)
    }
    guard let terminal = Terminal() else { throw .usage("there is no terminal to show the words on") }
    try terminal.write("\n    ")
    try code.withBytes { words throws(CommandError) in try terminal.write(words) }
    try terminal.write("\n\n")
    try terminal.say(
        "On the other device, type these words in holdfast sync add DIR. They are good for ten minutes and one device. "
            + "Waiting for it; Ctrl-C ends the invitation.")
}

private func compare(_ invitation: FolderInvitation, _ arguments: Arguments) throws(CommandError) {
    guard !arguments[Options.yes] else { return }
    guard let terminal = Terminal() else { throw .usage("there is no terminal to confirm on; use --yes") }
    let words = try syncCall { () throws(SyncError) in try invitation.comparingWords() }
    try terminal.say("\(Escaping.name(invitation.newName ?? "")) wants to join. It shows six words; here they are:")
    try terminal.write("\n    ")
    try words.withBytes { words throws(CommandError) in try terminal.write(words) }
    try terminal.write("\n\n")
    try Confirmation.requireYes("Are they the same on both devices?", on: terminal)
}

private func showStatus(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let status = try ItemAccess(arguments).run { agent throws(VaultError) in
        try agent.syncStatus()
    } own: { (_, vault) throws(VaultError) in
        try SyncAccess.inVault { () throws(SyncError) in try GroupHome.load(vault)?.status() }
    }
    guard let status else { throw SyncAccess.notSynced }
    try status.tell(arguments)
    return .done
}

private func doRounds(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let access = ItemAccess(arguments)
    let found: SyncStatus?? = try access.use(changes: true) { agent, _ in try agent.syncNow() }
    let status: SyncStatus
    switch found {
    case .some(.some(let known)): status = known
    case .some(.none): throw SyncAccess.notSynced
    case .none: status = try SyncAccess.rounds(access.open().vault, arguments)
    }
    try status.tell(arguments)
    return status.exit
}

private func removeFromSync(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    let word = arguments[place: 0]
    try Confirmation.require(arguments)
    let (vault, proof) = try Unlocking.openProving(arguments)
    let home = try SyncAccess.home(vault)
    if word.contains("/") {
        let path = absolute(word)
        guard let place = home.roads.first(where: { $0.value.path == path })?.key else {
            throw CommandError(.notFound, code: .notSynced, "this vault does not use \(Escaping.name(path))")
        }
        try syncCall { () throws(SyncError) in try home.remove(road: place) }
        SyncAccess.tellAgent(arguments)
        Output.remark("The folder is not used any more; its files stay.")
        return .done
    }
    try syncCall { () throws(SyncError) in try FolderRound.beforeChange(of: vault, isAdding: false) }
    let member = try member(word, home)
    try Confirmation.ask(
        arguments,
        "\(Escaping.name(member.name)) keeps what it has. From now on it gets no changes, and none of its own are taken.",
        word: "remove")
    try vaultCall { try vault.redeem(proof.take()) }
    _ = try syncCall { () throws(SyncError) in try GroupHome.load(vault)?.remove(member.id) }
    Output.remark("Removed. Change the passwords that somebody who has \(Escaping.name(member.name)) must not use.")
    let status = try SyncAccess.rounds(vault, arguments)
    try status.tell(arguments)
    return status.exit
}

private func member(_ word: String, _ home: GroupHome) throws(CommandError) -> SyncStatus.Member {
    let all = try syncCall { () throws(SyncError) in try home.status() }.members
    let found = all.filter { $0.isCalled(word) }
    guard let first = found.first else {
        let names = all.map { Escaping.name($0.name) }.joined(separator: ", ")
        throw CommandError(
            .notFound, code: .notSynced, "no device is called \(Escaping.name(word)); there are \(names)")
    }
    guard found.count == 1 else {
        let ids = found.map { String($0.id.description.prefix(SyncStatus.Member.digits)) }.joined(separator: ", ")
        throw CommandError(
            .failure, code: .ambiguous, "several devices are called \(Escaping.name(word))",
            advice: "name one of them by its id: \(ids)")
    }
    guard !first.isThisDevice else {
        throw CommandError(
            .notAllowed, code: .notInvited, "this is this device itself",
            advice: "holdfast sync leave stops here, and sync remove on another device takes it off the list")
    }
    return first
}

private func leaveGroup(_ arguments: Arguments) throws(CommandError) -> ExitCode {
    try Confirmation.require(arguments)
    let (vault, proof) = try Unlocking.openProving(arguments)
    let home = try SyncAccess.home(vault)
    try Confirmation.ask(arguments, "This vault is not synced any more. All entries stay here.", word: "leave")
    try vaultCall { try vault.redeem(proof.take()) }
    try syncCall { () throws(SyncError) in try home.leave() }
    SyncAccess.tellAgent(arguments)
    Output.remark("Left. On another device: holdfast sync remove \(ShellWord.quoted(home.name))")
    return .done
}

extension SyncStatus {
    fileprivate var exit: ExitCode { roads.contains { $0.problem != nil } ? .failure : .done }
}

private let noFolder = CommandError(
    .notFound, code: .notSynced, "this vault has no sync folder", advice: "holdfast sync add DIR adds one")

private func isRoad(_ path: String) throws(CommandError) -> Bool {
    do throws(RoadError) {
        _ = try FolderRoad.group(at: path)
        return true
    } catch {
        switch error {
        case .noRoad, .notThere: return false
        default: throw CommandError(SyncError.folder(error))
        }
    }
}

private func inFolder(_ body: () throws(RoadError) -> Void) throws(SyncError) {
    do throws(RoadError) { try body() } catch { throw .folder(error) }
}

/// From the root folder, because the agent has another working folder, and without links and dots: one folder is one
/// road.
private func absolute(_ path: String) -> String {
    if let real = real(path) { return real }
    if let parent = real(Paths.parent(of: path)), let last = path.split(separator: "/").last, last != ".." {
        return (parent == "/" ? "" : parent) + "/" + last
    }
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(folder) }
    return unsafe String(cString: folder) + "/" + path
}

/// Nil for what is not there.
private func real(_ path: String) -> String? {
    guard let found = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(found) }
    return unsafe String(validatingCString: found)
}
