internal import SyncFormat
internal import VaultFormat

extension Reply {
    /// Reads the body of an answer, all of it and nothing else.
    /// - Throws: ``MessageError`` with what is wrong.
    package init(_ frame: Frame, body: RawSpan) throws(MessageError) {
        try frame.expectReply()
        guard body.byteCount == frame.bodySize else { throw .truncated }
        guard let kind = Kind(rawValue: frame.kind) else { throw .unknownKind(frame.kind) }
        var cursor = Cursor(body)
        switch kind {
        case .done: self = .done
        case .failure: self = .failure(try Failure(&cursor, body))
        case .welcome:
            let version = try cursor.integer(body, UInt8.self)
            let process = try cursor.integer(body, UInt32.self)
            self = .welcome(version: version, process: process, program: try cursor.text(body, 0...64, "program"))
        case .status: self = .status(try AgentStatus(&cursor, body))
        case .unlocked: self = .unlocked(locksIn: try cursor.optional(body, UInt64.self, "time"))
        case .ready: self = .ready
        case .piece: self = .piece(try cursor.rest(1...Frame.longestPiece, "piece"))
        case .records:
            var entries: [RecordEntry] = []
            while !cursor.isAtEnd { entries.append(try RecordEntry(&cursor, body)) }
            self = .records(entries)
        case .finished: self = .finished(try cursor.integer(body, UInt64.self))
        case .change:
            self = .change(try cursor.flag(body, "flags") ? try PendingChange(&cursor, body) : nil)
        case .guidance:
            guard let guidance = OwnerGuidance(rawValue: try cursor.integer(body, UInt8.self)) else {
                throw .invalid(field: "guidance")
            }
            self = .guidance(guidance)
        case .prompt: self = .prompt(try OwnerPrompt(&cursor, body))
        case .owner: self = .owner(try OwnerStatus(&cursor, body))
        case .notice: self = .notice(try cursor.text(body, Reply.noticeSizes, "notice"))
        case .identity: self = .identity(try IdentityReport(&cursor, body))
        case .item: self = .item(try ItemHead(&cursor, body))
        case .trash:
            var entries: [TrashEntry] = []
            while !cursor.isAtEnd { entries.append(try TrashEntry(&cursor, body)) }
            self = .trash(entries)
        case .texts:
            var texts: [String] = []
            while !cursor.isAtEnd { texts.append(try cursor.text(body, Reply.textSizes, "text")) }
            self = .texts(texts)
        case .leases:
            var entries: [LeaseEntry] = []
            while !cursor.isAtEnd { entries.append(try LeaseEntry(&cursor, body)) }
            self = .leases(entries)
        case .inbox:
            var entries: [InboxEntry] = []
            while !cursor.isAtEnd { entries.append(try InboxEntry(&cursor, body)) }
            self = .inbox(entries)
        case .logEntries:
            var entries: [LoggedEntry] = []
            while !cursor.isAtEnd { entries.append(try LoggedEntry(&cursor, body)) }
            self = .logEntries(entries)
        case .logFindings:
            var findings: [LogFinding] = []
            while !cursor.isAtEnd { findings.append(try LogFinding(&cursor, body)) }
            self = .logFindings(findings)
        case .progress:
            let done = try cursor.integer(body, UInt64.self)
            self = .progress(done: done, total: try cursor.integer(body, UInt64.self))
        case .verification: self = .verification(try VerificationReport(&cursor, body))
        case .sync: self = .sync(try cursor.flag(body, "flags") ? try SyncStatus(&cursor, body) : nil)
        }
        try cursor.expectEnd()
    }

    /// The message without the bytes of its value, which follow: `payload` says how many.
    package func head(payload: Int = 0) -> [UInt8] {
        var writer = Writer()
        switch self {
        case .failure(let failure): failure.write(&writer)
        case .welcome(let version, let process, let program):
            writer.integer(version)
            writer.integer(process)
            writer.text(program, atMost: 64)
        case .status(let status): status.write(&writer)
        case .unlocked(let locksIn): writer.optional(locksIn)
        case .records(let entries): for entry in entries { entry.write(&writer) }
        case .finished(let count): writer.integer(count)
        case .change(let pending):
            writer.flag(pending != nil)
            pending?.write(&writer)
        case .guidance(let guidance): writer.integer(guidance.rawValue)
        case .prompt(let prompt): prompt.write(&writer)
        case .owner(let status): status.write(&writer)
        case .notice(let notice): writer.text(notice, atMost: Reply.noticeSizes.upperBound)
        case .identity(let report): report.write(&writer)
        case .item(let head): head.write(&writer)
        case .trash(let entries): for entry in entries { entry.write(&writer) }
        case .texts(let texts): for text in texts { writer.text(text, atMost: Reply.textSizes.upperBound) }
        case .leases(let entries): for entry in entries { entry.write(&writer) }
        case .inbox(let entries): for entry in entries { entry.write(&writer) }
        case .logEntries(let entries): for entry in entries { entry.write(&writer) }
        case .logFindings(let findings): for finding in findings { finding.write(&writer) }
        case .progress(let done, let total):
            writer.integer(done)
            writer.integer(total)
        case .verification(let report): report.write(&writer)
        case .sync(let status):
            writer.flag(status != nil)
            status?.write(&writer)
        case .done, .ready, .piece: break
        }
        return Frame.bytes(kind: kind.rawValue, bodySize: writer.bytes.count + payload) + writer.bytes
    }
}

extension Failure {
    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        code = try cursor.text(bytes, Failure.codeSizes, "code")
        reason = try cursor.text(bytes, Failure.reasonSizes, "reason")
        remainingAttempts = try cursor.optional(bytes, UInt32.self, "attempts")
        retryAfter = try cursor.optional(bytes, UInt64.self, "time")
    }

    func write(_ writer: inout Writer) {
        writer.text(code, atMost: Failure.codeSizes.upperBound)
        writer.text(reason, atMost: Failure.reasonSizes.upperBound)
        writer.optional(remainingAttempts)
        writer.optional(retryAfter)
    }
}

extension AgentStatus {
    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        process = try cursor.integer(bytes, UInt32.self)
        isUnlocked = try cursor.flag(bytes, "flags")
        locksIn = try cursor.optional(bytes, UInt64.self, "time")
        connections = try cursor.integer(bytes, UInt32.self)
        locks = try cursor.integer(bytes, UInt32.self)
    }

    func write(_ writer: inout Writer) {
        writer.integer(process)
        writer.flag(isUnlocked)
        writer.optional(locksIn)
        writer.integer(connections)
        writer.integer(locks)
    }
}
