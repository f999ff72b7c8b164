package import SyncFormat
package import VaultFormat

/// What the agent answers. Values are named by where they lie in the message.
package enum Reply: Sendable, Hashable {
    /// It is done.
    case done
    /// Nothing was changed, or not all of it; says why.
    case failure(Failure)
    /// To ``ConnectionRequest/hello(version:)``.
    case welcome(version: UInt8, process: UInt32, program: String)
    /// To ``ConnectionRequest/status``.
    case status(AgentStatus)
    /// The vault is unlocked; milliseconds until it locks if idle, nil for never.
    case unlocked(locksIn: UInt64?)
    /// The value may be sent.
    case ready
    /// A piece of a value; more follows.
    case piece(Range<Int>)
    /// Some records; more may follow.
    case records([RecordEntry])
    /// The end of a value or a list: bytes or records in all.
    case finished(UInt64)
    /// The change of self-destruct that is pending, nil when none is.
    case change(PendingChange?)
    /// What a sensor says while it looks.
    case guidance(OwnerGuidance)
    /// What a passcode check wants to have shown or answered.
    case prompt(OwnerPrompt)
    /// To ``OwnerRequest/status``.
    case owner(OwnerStatus)
    /// What became known on the way of an identity's operation, for people; more follows.
    case notice(String)
    /// What is known of the identity.
    case identity(IdentityReport)
    /// What an item is, before its bytes.
    case item(ItemHead)
    /// Some of what is in the trash; more may follow.
    case trash([TrashEntry])
    /// Some texts; more may follow.
    case texts([String])
    /// Some leases; more may follow.
    case leases([LeaseEntry])
    /// Some of the inbox; more may follow.
    case inbox([InboxEntry])
    /// Some entries of the security log; more may follow.
    case logEntries([LoggedEntry])
    /// Some of what is wrong with the security log; more may follow.
    case logFindings([LogFinding])
    /// How far a check is, of how many; more follows.
    case progress(done: UInt64, total: UInt64)
    /// What a check found.
    case verification(VerificationReport)
    /// To ``SyncRequest``; nil where the vault is in no group.
    case sync(SyncStatus?)

    /// Numbers of the messages; they do not change.
    package enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        case done = 128
        case failure = 129
        case welcome = 130
        case status = 131
        case unlocked = 132
        case ready = 133
        case piece = 134
        case records = 135
        case finished = 136
        case change = 137
        case guidance = 138
        case prompt = 139
        case owner = 140
        case notice = 141
        case identity = 142
        case item = 143
        case trash = 144
        case texts = 145
        case leases = 146
        case inbox = 147
        case logEntries = 148
        case logFindings = 149
        case progress = 150
        case verification = 151
        case sync = 152
    }

    static let noticeSizes = 0...4096
    /// Bytes of one of several texts.
    static let textSizes = 1...1024

    /// Which message it is.
    package var kind: Kind {
        switch self {
        case .done: .done
        case .failure: .failure
        case .welcome: .welcome
        case .status: .status
        case .unlocked: .unlocked
        case .ready: .ready
        case .piece: .piece
        case .records: .records
        case .finished: .finished
        case .change: .change
        case .guidance: .guidance
        case .prompt: .prompt
        case .owner: .owner
        case .notice: .notice
        case .identity: .identity
        case .item: .item
        case .trash: .trash
        case .texts: .texts
        case .leases: .leases
        case .inbox: .inbox
        case .logEntries: .logEntries
        case .logFindings: .logFindings
        case .progress: .progress
        case .verification: .verification
        case .sync: .sync
        }
    }
}

/// An error of the vault or of the agent on its way to the client.
package struct Failure: Sendable, Hashable {
    static let codeSizes = 1...64
    static let reasonSizes = 0...2048

    /// The stable word that `--json` shows.
    package let code: String
    /// What happened, for people. Never a secret.
    package let reason: String
    /// Attempts left, where one was refused.
    package let remainingAttempts: UInt32?
    /// Milliseconds until the next attempt is taken, where a delay runs.
    package let retryAfter: UInt64?

    package init(code: String, reason: String, remainingAttempts: UInt32? = nil, retryAfter: UInt64? = nil) {
        self.code = code
        self.reason = reason
        self.remainingAttempts = remainingAttempts
        self.retryAfter = retryAfter
    }
}

/// What an agent says of itself.
package struct AgentStatus: Sendable, Hashable {
    /// Number of its process.
    package let process: UInt32
    /// Whether it holds the keys.
    package let isUnlocked: Bool
    /// Milliseconds until it locks if idle; nil while it is locked, or for never.
    package let locksIn: UInt64?
    /// Clients that are connected, with the one that asks.
    package let connections: UInt32
    /// How often it has locked since it began: what was open at one number and is at another was shut between.
    package let locks: UInt32

    package init(process: UInt32, isUnlocked: Bool, locksIn: UInt64?, connections: UInt32, locks: UInt32) {
        self.process = process
        self.isUnlocked = isUnlocked
        self.locksIn = locksIn
        self.connections = connections
        self.locks = locks
    }
}

/// One line of a list.
package struct RecordEntry: Sendable, Hashable {
    /// Where it is.
    package let path: RecordName
    /// Bytes of content.
    package let size: UInt64
    /// Milliseconds since 1970.
    package let created: Int64
    /// As ``created``, of the last write.
    package let modified: Int64
    /// Whether the content lies in a file of its own.
    package let isFile: Bool
    /// Whether it was written while the vault was locked, and its owner has not confirmed it.
    package let isOpen: Bool
    /// Whether it has fields.
    package let isItem: Bool
    /// What it is, as the format numbers kinds of items; 0 where that was not asked for, and of what is no item.
    package let kind: UInt8
    /// The name of the user that it is for; empty where that was not asked for.
    package let user: String

    /// Bytes of a user's name.
    static let userSizes = 0...255

    package init(
        path: RecordName, size: UInt64, created: Int64, modified: Int64, isFile: Bool, isOpen: Bool, isItem: Bool,
        kind: UInt8 = 0, user: String = ""
    ) {
        self.path = path
        self.size = size
        self.created = created
        self.modified = modified
        self.isFile = isFile
        self.isOpen = isOpen
        self.isItem = isItem
        self.kind = kind
        self.user = user
    }

    /// Bytes in a message.
    package var encodedSize: Int {
        4 + path.collection.utf8.count + path.name.utf8.count + 28 + 2 + user.utf8.count
    }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        path = try RecordName(&cursor, bytes)
        size = try cursor.integer(bytes, UInt64.self)
        created = Int64(bitPattern: try cursor.integer(bytes, UInt64.self))
        modified = Int64(bitPattern: try cursor.integer(bytes, UInt64.self))
        isFile = try cursor.flag(bytes, "flags")
        isOpen = try cursor.flag(bytes, "flags")
        isItem = try cursor.flag(bytes, "flags")
        kind = try cursor.integer(bytes, UInt8.self)
        user = try cursor.text(bytes, RecordEntry.userSizes, "user")
    }

    func write(_ writer: inout Writer) {
        path.write(&writer)
        writer.integer(size)
        writer.integer(UInt64(bitPattern: created))
        writer.integer(UInt64(bitPattern: modified))
        writer.flag(isFile)
        writer.flag(isOpen)
        writer.flag(isItem)
        writer.integer(kind)
        writer.text(user, atMost: RecordEntry.userSizes.upperBound)
    }
}
