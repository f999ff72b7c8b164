internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent
internal import SyncFormat
internal import SystemCalls
internal import VaultSync

/// What the commands of the sync have in common.
enum SyncAccess {
    /// The group of a vault that is open.
    /// - Throws: `notSynced` where it is in none.
    static func home(_ vault: Vault) throws(CommandError) -> GroupHome {
        guard let home = try syncCall({ () throws(SyncError) in try GroupHome.load(vault) }) else {
            throw notSynced
        }
        return home
    }

    static let notSynced = CommandError(
        .notFound, code: .notSynced, "this vault is not synced",
        advice: "holdfast sync add DIR begins, with an empty folder that your sync tool carries")

    /// Does a round over each of the vault's folders, in this process.
    /// An agent that has the vault open knows of the group from then on.
    static func rounds(_ vault: Vault, _ arguments: Arguments) throws(CommandError) -> SyncStatus {
        let status = try PassingNote.show("Syncing ...") { () throws(CommandError) in
            try syncCall { () throws(SyncError) in try FolderRound.runAll(vault) }
        }
        guard let status else { throw notSynced }
        tellAgent(arguments)
        return status
    }

    /// Has an agent that has the vault open look at the group. What it finds it tells who asks.
    static func tellAgent(_ arguments: Arguments) {
        guard AgentAccess.isOpen(arguments), let agent = try? AgentAccess.connect(arguments) else { return }
        _ = try? agent.syncNow()
    }

    /// For a closure that the vault's errors come out of.
    static func inVault<R>(_ body: () throws(SyncError) -> R) throws(VaultError) -> R {
        do throws(SyncError) { return try body() } catch { throw VaultError(ofSync: error) }
    }

    /// What a device is called: as its user says, or as the machine is.
    static func deviceName(_ arguments: Arguments) throws(CommandError) -> String {
        let name = arguments[Options.deviceName] ?? machineName
        guard (1...SyncLimits.name).contains(name.utf8.count),
            !name.unicodeScalars.contains(where: { $0.value < 32 || (127...159).contains($0.value) })
        else {
            throw .usage("a device's name has 1 to \(SyncLimits.name) bytes; use \(Options.deviceName.option.spelled)")
        }
        return name
    }

    private static var machineName: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&bytes, bytes.count - 1) == 0 else { return "" }
        let name = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(name.prefix { $0 != "." })
    }

    /// Repeats something once a second until it has a result, or is interrupted.
    /// - Throws: `interrupted`, and what `look` throws. A folder that is not there now may be back.
    static func wait<R>(
        _ look: () throws(SyncError) -> R?
    ) throws(CommandError) -> R {
        let watch = try SignalWatch([SIGINT, SIGTERM, SIGHUP, SIGQUIT])
        let begun = MonotonicClock.milliseconds
        var problem: SyncError?
        while true {
            let found: R?
            do throws(SyncError) {
                found = try look()
                problem = nil
            } catch {
                guard case .folder(let failure) = error, failure.mayPass else { throw CommandError(error) }
                if problem != error { Output.note("\(error)") }
                problem = error
                found = nil
            }
            if let found { return found }
            guard MonotonicClock.milliseconds - begun < InvitationProgress.life else {
                throw CommandError(SyncError.invitationEnded(.late))
            }
            var waiting = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
            unsafe poll(&waiting, 1, 1000)
            if watch.next() != nil { throw .interrupted }
        }
    }
}

func syncCall<R: ~Copyable>(_ body: () throws(SyncError) -> R) throws(CommandError) -> R {
    do throws(SyncError) { return try body() } catch { throw CommandError(error) }
}

extension CommandError {
    init(_ error: SyncError) {
        switch error {
        case .folder(let error):
            self.init(.failure, code: Code(word: error.code), error.description)
        case .road(let error): self.init(.failure, code: .system, "the sync folder: \(error)")
        case .notForThisMember: self.init(.refused, code: .notSynced, error.description)
        case .invitationEnded, .undecided, .tooManyMembers, .tooManyInvitations:
            self.init(.refused, code: .notInvited, error.description)
        case .vault, .cryptography, .memory, .format, .notAuthentic: self.init(VaultError(ofSync: error))
        }
    }
}

extension SyncStatus {
    /// Prints it.
    func tell(_ arguments: Arguments) throws(CommandError) {
        if arguments[Options.json] { return try Output.write(json) }
        var facts: [(String, String)] = []
        for (index, member) in members.enumerated() {
            // What a name alone does not tell, or does not name for `remove`.
            let isOneOfSome = members.filter { $0.name == member.name }.count > 1 || member.name.contains("/")
            let id = isOneOfSome ? " \(member.id.description.prefix(SyncStatus.Member.digits))" : ""
            let own = member.isThisDevice ? " (this device)" : ""
            facts.append((index == 0 ? "devices" : "", Escaping.name(member.name) + id + own))
        }
        for road in roads {
            facts.append(("folder", Escaping.name(road.path)))
            if let problem = road.problem {
                facts.append(("", Escaping.sentence(problem)))
            } else if road.time != nil {
                facts.append(("", "took \(road.taken), gave \(road.given) changes"))
            }
            for hitch in road.hitches { facts.append(("", Escaping.sentence(hitch))) }
        }
        facts.append(("state", words.joined(separator: " ")))
        try Output.write(Facts.text(facts))
    }

    private var json: JSON {
        .object([
            "devices": .array(
                members.map {
                    .object([
                        "name": .text($0.name), "id": .text($0.id.description),
                        "isThisDevice": .boolean($0.isThisDevice),
                    ])
                }),
            "folders": .array(
                roads.map { road in
                    .object([
                        "path": .text(road.path), "taken": .integer(Int64(road.taken)),
                        "given": .integer(Int64(road.given)), "problem": road.problem.map { .text($0) } ?? .null,
                        "hitches": .array(road.hitches.map { .text($0) }),
                        "time": road.time.flatMap { Format.timestamp(milliseconds: $0) }.map { .text($0) } ?? .null,
                    ])
                }),
            "state": .text(words.joined(separator: " ")),
        ])
    }
}
