internal import VaultFormat

extension Request {
    /// Of the factor of an unlock.
    private static let rememberedBit: UInt8 = 16

    /// Reads the body of a request, all of it and nothing else.
    /// - Throws: ``MessageError`` with what is wrong.
    package init(_ frame: Frame, body: RawSpan) throws(MessageError) {
        try frame.expectRequest()
        guard body.byteCount == frame.bodySize else { throw .truncated }
        guard let kind = Kind(rawValue: frame.kind) else { throw .unknownKind(frame.kind) }
        var cursor = Cursor(body)
        switch kind {
        case .hello: self = .hello(version: try cursor.integer(body, UInt8.self))
        case .status: self = .status
        case .unlock:
            let code = try cursor.integer(body, UInt8.self)
            guard let factor = UnlockSecret(requestCode: code & ~Request.rememberedBit) else {
                throw .invalid(field: "factor")
            }
            let (idle, timeout) = try Request.times(&cursor, body)
            let secret = try cursor.rest(Request.secretSizes, "secret")
            self = .unlock(
                factor, isRemembered: code & Request.rememberedBit != 0, idle: idle, timeout: timeout, secret: secret)
        case .open:
            let (idle, timeout) = try Request.times(&cursor, body)
            self = .open(idle: idle, timeout: timeout)
        case .lock: self = .lock
        case .get: self = .get(try RecordPath(&cursor, body))
        case .put:
            let replacing = try cursor.flag(body, "flags")
            self = .put(try RecordPath(&cursor, body), replacing: replacing)
        case .list:
            let isOne = try cursor.flag(body, "flags")
            self = .list(collection: isOne ? try cursor.text(body, RecordPath.collectionSizes, "collection") : nil)
        case .remove: self = .remove(try RecordPath(&cursor, body))
        case .ping: self = .ping
        case .shutDown: self = .shutDown
        case .data: self = .data(try cursor.rest(1...Frame.longestPiece, "data"))
        case .end: self = .end
        case .beginChange:
            guard let change = Change(rawValue: try cursor.integer(body, UInt8.self)) else {
                throw .invalid(field: "change")
            }
            let countdown = try cursor.optional(body, UInt32.self, "countdown")
            self = .beginChange(change, countdown: countdown, secret: try cursor.rest(Request.secretSizes, "secret"))
        case .confirmChange: self = .confirmChange
        case .finishChange: self = .finishChange(secret: try cursor.rest(Request.secretSizes, "secret"))
        case .cancelChange: self = .cancelChange
        case .pendingChange: self = .pendingChange
        case .confirm:
            guard let step = OwnerStep(rawValue: try cursor.integer(body, UInt8.self)) else {
                throw .invalid(field: "step")
            }
            let (idle, timeout) = try Request.times(&cursor, body)
            self = .confirm(step, idle: idle, timeout: timeout)
        case .answer: self = .answer(secret: try cursor.rest(Request.answerSizes, "answer"))
        case .cancel: self = .cancel
        case .owner: self = .owner
        case .identity: self = .identity(try IdentityCall(&cursor, body))
        case .move: self = .move(try RecordPath(&cursor, body), to: try RecordPath(&cursor, body))
        case .copy: self = .copy(try RecordPath(&cursor, body), to: try RecordPath(&cursor, body))
        case .find:
            let query = try cursor.text(body, Request.querySizes, "query")
            let isOne = try cursor.flag(body, "flags")
            self = .find(
                query, collection: isOne ? try cursor.text(body, RecordPath.collectionSizes, "collection") : nil)
        case .value:
            let path = try RecordPath(&cursor, body)
            self = .value(path, label: try cursor.optionalText(body, Request.labelSizes, "label"))
        case .serveSSH: self = .serveSSH
        case .serveSecrets: self = .serveSecrets
        case .importSSH:
            let path = try RecordPath(&cursor, body)
            self = .importSSH(path, key: try cursor.rest(Request.keySizes, "key"))
        case .credential:
            guard let action = CredentialAction(rawValue: try cursor.integer(body, UInt8.self)) else {
                throw .invalid(field: "action")
            }
            let collection = try cursor.text(body, RecordPath.collectionSizes, "collection")
            self = .credential(
                action, collection: collection, attributes: try cursor.rest(Request.attributeSizes, "attributes"))
        case .item: self = .item(try RecordPath(&cursor, body))
        case .putItem:
            let sequence = try cursor.optional(body, UInt64.self, "sequence")
            self = .putItem(try RecordPath(&cursor, body), replacing: sequence)
        case .discard:
            let seconds = try cursor.integer(body, UInt32.self)
            self = .discard(try RecordPath(&cursor, body), seconds: seconds)
        case .trash: self = .trash
        case .restore:
            let key = try TrashKey(&cursor, body)
            self = .restore(key, try cursor.flag(body, "flags") ? try RecordPath(&cursor, body) : nil)
        case .emptyTrash: self = .emptyTrash(try cursor.flag(body, "flags") ? try TrashKey(&cursor, body) : nil)
        case .tags: self = .tags
        case .folder: self = .folder(try FolderCall(&cursor, body))
        case .introduce: self = .introduce(try Introduction(&cursor, body))
        case .lease:
            let target = try LeasedName(&cursor, body)
            let seconds = try cursor.optional(body, UInt32.self, "time")
            guard seconds != 0 else { throw .invalid(field: "time") }
            self = .lease(target, seconds: seconds)
        case .leases: self = .leases
        case .revoke: self = .revoke(try cursor.optional(body, UInt64.self, "number"))
        case .inbox: self = .inbox
        case .acceptInbox: self = .acceptInbox(try Acceptance(&cursor, body))
        case .rejectInbox: self = .rejectInbox(try cursor.text(body, RecordPath.nameSizes, "name"))
        case .securityLog: self = .securityLog
        case .verify: self = .verify
        }
        try cursor.expectEnd()
    }

    /// How long the vault is to stay open: seconds without use, and in any case; nil where the agent's own hold.
    private static func times(_ cursor: inout Cursor, _ body: RawSpan) throws(MessageError) -> (UInt32?, UInt32?) {
        let idle = try cursor.optional(body, UInt32.self, "idle time")
        let timeout = try cursor.optional(body, UInt32.self, "timeout")
        guard idle != 0, timeout != 0 else { throw .invalid(field: "time") }
        return (idle, timeout)
    }

    /// The message without the bytes of its secret or data, which follow: `payload` says how many.
    package func head(payload: Int = 0) -> [UInt8] {
        var writer = Writer()
        switch self {
        case .hello(let version): writer.integer(version)
        case .unlock(let factor, let isRemembered, let idle, let timeout, _):
            writer.integer(factor.requestCode | (isRemembered ? Request.rememberedBit : 0))
            writer.optional(idle)
            writer.optional(timeout)
        case .get(let path), .remove(let path), .item(let path), .importSSH(let path, _): path.write(&writer)
        case .putItem(let path, let sequence):
            writer.optional(sequence)
            path.write(&writer)
        case .discard(let path, let seconds):
            writer.integer(seconds)
            path.write(&writer)
        case .restore(let key, let path):
            key.write(&writer)
            writer.flag(path != nil)
            path?.write(&writer)
        case .emptyTrash(let key):
            writer.flag(key != nil)
            key?.write(&writer)
        case .put(let path, let replacing):
            writer.flag(replacing)
            path.write(&writer)
        case .list(let collection):
            writer.flag(collection != nil)
            if let collection { writer.text(collection, atMost: RecordPath.collectionSizes.upperBound) }
        case .beginChange(let change, let countdown, _):
            writer.integer(change.rawValue)
            writer.optional(countdown)
        case .open(let idle, let timeout):
            writer.optional(idle)
            writer.optional(timeout)
        case .confirm(let step, let idle, let timeout):
            writer.integer(step.rawValue)
            writer.optional(idle)
            writer.optional(timeout)
        case .identity(let call): call.write(&writer)
        case .move(let path, let target), .copy(let path, let target):
            path.write(&writer)
            target.write(&writer)
        case .find(let query, let collection):
            writer.text(query, atMost: Request.querySizes.upperBound)
            writer.flag(collection != nil)
            if let collection { writer.text(collection, atMost: RecordPath.collectionSizes.upperBound) }
        case .value(let path, let label):
            path.write(&writer)
            writer.optionalText(label, atMost: Request.labelSizes.upperBound)
        case .credential(let action, let collection, _):
            writer.integer(action.rawValue)
            writer.text(collection, atMost: RecordPath.collectionSizes.upperBound)
        case .introduce(let introduction): introduction.write(&writer)
        case .lease(let target, let seconds):
            target.write(&writer)
            writer.optional(seconds)
        case .revoke(let number): writer.optional(number)
        case .folder(let call): call.write(&writer)
        case .acceptInbox(let acceptance): acceptance.write(&writer)
        case .rejectInbox(let name): writer.text(name, atMost: RecordPath.nameSizes.upperBound)
        case .status, .lock, .ping, .shutDown, .data, .end, .confirmChange, .finishChange, .cancelChange,
            .pendingChange, .answer, .cancel, .owner, .trash, .tags, .serveSSH, .serveSecrets, .leases, .inbox,
            .securityLog,
            .verify:
            break
        }
        return Frame.bytes(kind: kind.rawValue, bodySize: writer.bytes.count + payload) + writer.bytes
    }
}
