internal import BetterAuthHTTP
internal import BetterAuthMessages
internal import BetterAuthServer
internal import CommandLineArguments

extension ServerCommand {
    private static let auditFile = Place(name: "FILE", kind: .file, help: "The audit log.")
    private static let auditKeys = [
        ServerOptions.config.option, ServerOptions.database.option, ServerOptions.keysFile.option,
        ServerOptions.keysIn.option,
    ]

    static let auditVerify = ServerCommand(
        CommandSyntax(
            ["audit", "verify"], summary: "prove the lines of an audit log",
            details: [
                "Each line has a proof under a key that follows from that of the line before. Lines that were changed, "
                    + "moved, added or removed are named. Lines removed from the end of a chain that has no end are not "
                    + "found, unless --noted-tag names the tag of one of them: note the last tag elsewhere, now and then.",
                "The keys are those of the server that wrote it: --keys-file, or the ones beside --database.",
            ],
            example: "holdfast-server audit verify audit.log --database accounts.db", places: [auditFile],
            options: [ServerOptions.notedTag.option] + auditKeys, isCompletedLater: true), run: Audit.verify)

    static let auditShow = ServerCommand(
        CommandSyntax(
            ["audit", "show"], summary: "print the lines of an audit log",
            details: [
                "With --identity only those about one account: the log has a keyed digest in the place of its identity. "
                    + "Lines that are not proved are marked."
            ],
            example: "holdfast-server audit show audit.log --database accounts.db --json", places: [auditFile],
            options: [ServerOptions.json.option, ServerOptions.identity.option] + auditKeys, isCompletedLater: true),
        run: Audit.show)
}

/// What an operator does with the audit log.
enum Audit {
    /// The trail of a server; nil when none is wanted.
    static func trail(
        _ arguments: Arguments, _ log: AuditLog?
    ) -> AuditTrail? { log.map { AuditTrail($0, hasAddresses: arguments[ServerOptions.auditAddresses]) } }

    /// Opens the log that `--audit-log` names, with the last key of the audit log; the first one is made.
    static func open(_ arguments: Arguments, _ custody: KeyCustody, _ conditions: Conditions) throws -> AuditLog? {
        guard let path = arguments[ServerOptions.auditLog] else { return nil }
        return try AuditLog(path, custody.auditKey(), policy(arguments)) { failure in
            guard let failure else { return conditions.recover("audit log") }
            conditions.fail("audit log", failure)
        }
    }

    static func policy(_ arguments: Arguments) -> AuditLog.Policy {
        arguments[ServerOptions.auditFull].flatMap(AuditLog.Policy.init) ?? .refuse
    }

    private static func reader(_ arguments: Arguments) throws -> AuditReader {
        let file: KeyFile
        if let path = arguments[ServerOptions.keysFile] {
            file = KeyFile(path, try KeyPlace.protection(arguments))
        } else {
            file = try ServedData.keyFile(
                arguments, Maintenance.database(arguments), KeyPlace.protection(arguments))
        }
        let keys = try file.load(responseLifetime: Serve.responseLifetime, accessLifetime: 0).auditKeys
        guard !keys.isEmpty else { throw UsageError("\(file.path) has no key of an audit log") }
        return AuditReader(keys)
    }

    static func verify(_ arguments: Arguments) throws -> ServerExit {
        var reader = try reader(arguments)
        var noted = Set(arguments[ServerOptions.notedTag])
        let report = try reader.read(arguments[place: 0]) { if $0.isProved { noted.remove($0.tag) } }
        for (line, fault) in report.faults { ServerOutput.complain("line \(line): \(fault)\n") }
        if report.hasMore { ServerOutput.complain("more faults than \(AuditReport.most)\n") }
        for tag in noted.sorted() {
            ServerOutput.complain("no proved line has the tag \(tag): lines were removed since it was noted\n")
        }
        ServerOutput.say("\(report.lines) lines in \(report.chains.count) chains, \(report.faults.count) faults\n")
        if report.continuesEarlier { ServerOutput.say("It continues an earlier file.\n") }
        if report.lost > 0 { ServerOutput.say("\(report.lost) operations were not written, as the log says.\n") }
        for chain in report.chains where !chain.isEnded {
            ServerOutput.say(
                "Chain \(chain.id) has no end after \(chain.lines) lines, the last with tag \(chain.lastTag): its process "
                    + "runs or was killed, or its last lines were removed.\n")
        }
        return report.faults.isEmpty && noted.isEmpty ? .done : .faults
    }

    static func show(_ arguments: Arguments) throws -> ServerExit {
        var reader = try reader(arguments)
        let wanted = try arguments[ServerOptions.identity].map { text in
            guard let identity = IdentityID(text) else { throw UsageError("\(text) is not an identity") }
            return try reader.digests(of: identity.description)
        }
        let isJSON = arguments[ServerOptions.json]
        let report = try reader.read(arguments[place: 0]) { record in
            if let wanted {
                guard let own = record.members["identity"], wanted.contains(own) else { return }
            }
            ServerOutput.say(isJSON ? json(record) : line(record))
        }
        if !report.faults.isEmpty {
            ServerOutput.complain("\(report.faults.count) faults; holdfast-server audit verify names them\n")
        }
        return report.faults.isEmpty ? .done : .faults
    }

    /// The line as it stands there, and whether it is proved.
    private static func json(_ record: AuditReader.Record) -> String {
        "\(record.text.dropLast()),\"proved\":\(record.isProved)}\n"
    }

    private static func line(_ record: AuditReader.Record) -> String {
        let fields = ["time", "operation", "outcome", "code", "identity", "address", "request"]
            .compactMap { record.members[$0] }
        return (record.isProved ? "" : "NOT PROVED  ") + fields.joined(separator: "  ") + "\n"
    }
}
