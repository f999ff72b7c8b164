package import VaultFormat

/// About the agent and the connection.
package enum ConnectionRequest: RequestArea {
    /// Which agent is this? Carries the highest version that the client speaks.
    case hello(version: UInt8)
    /// Is it unlocked, and until when?
    case status
    /// Answer.
    case ping
    /// What the client says of itself; has no answer.
    case introduce(Introduction)

    package enum Kind: UInt8, CaseIterable {
        case hello = 1, status = 2, ping = 9, introduce = 42
    }

    init(_ kind: Kind, _ cursor: inout Cursor, _ body: RawSpan) throws(MessageError) {
        switch kind {
        case .hello: self = .hello(version: try cursor.integer(body, UInt8.self))
        case .status: self = .status
        case .ping: self = .ping
        case .introduce: self = .introduce(try Introduction(&cursor, body))
        }
    }

    func write(_ writer: inout Writer) -> Kind {
        switch self {
        case .hello(let version):
            writer.integer(version)
            return .hello
        case .status: return .status
        case .ping: return .ping
        case .introduce(let introduction):
            introduction.write(&writer)
            return .introduce
        }
    }

    var request: Request { .connection(self) }
}

/// About the lock.
package enum LockRequest: RequestArea {
    /// Open the vault. `isRemembered` is what was asked for by another command, after which the vault may stay open
    /// only if its rules allow it. `idle` and `timeout` are seconds, and nil where the agent's own hold.
    case unlock(UnlockSecret, isRemembered: Bool = false, idle: UInt32?, timeout: UInt32?, secret: Range<Int>)
    /// Open a vault that opens without asking. Times as for an unlock.
    case open(idle: UInt32?, timeout: UInt32?)
    /// Have the user asked for what opens the vault, elsewhere than on the client's standard streams. Answered when it
    /// is open or is not to be. Times as for an unlock.
    case ask(UnlockPurpose, idle: UInt32?, timeout: UInt32?)
    /// Drop the keys; the answer comes when they are gone.
    case lock
    /// Drop the keys and end.
    case shutDown

    package enum Kind: UInt8, CaseIterable {
        case unlock = 3, lock = 4, shutDown = 10, open = 52, ask = 60
    }

    /// Of the factor of an unlock.
    private static let rememberedBit: UInt8 = 16

    init(_ kind: Kind, _ cursor: inout Cursor, _ body: RawSpan) throws(MessageError) {
        switch kind {
        case .unlock:
            let code = try cursor.integer(body, UInt8.self)
            guard let factor = UnlockSecret(requestCode: code & ~LockRequest.rememberedBit) else {
                throw .invalid(field: "factor")
            }
            let (idle, timeout) = try cursor.times(body)
            let secret = try cursor.rest(UnlockSecret.sizes, "secret")
            self = .unlock(
                factor, isRemembered: code & LockRequest.rememberedBit != 0, idle: idle, timeout: timeout,
                secret: secret)
        case .open:
            let (idle, timeout) = try cursor.times(body)
            self = .open(idle: idle, timeout: timeout)
        case .ask:
            guard let purpose = UnlockPurpose(rawValue: try cursor.integer(body, UInt8.self)) else {
                throw .invalid(field: "purpose")
            }
            let (idle, timeout) = try cursor.times(body)
            self = .ask(purpose, idle: idle, timeout: timeout)
        case .lock: self = .lock
        case .shutDown: self = .shutDown
        }
    }

    func write(_ writer: inout Writer) -> Kind {
        switch self {
        case .unlock(let factor, let isRemembered, let idle, let timeout, _):
            writer.integer(factor.requestCode | (isRemembered ? LockRequest.rememberedBit : 0))
            writer.optional(idle)
            writer.optional(timeout)
            return .unlock
        case .open(let idle, let timeout):
            writer.optional(idle)
            writer.optional(timeout)
            return .open
        case .ask(let purpose, let idle, let timeout):
            writer.integer(purpose.rawValue)
            writer.optional(idle)
            writer.optional(timeout)
            return .ask
        case .lock: return .lock
        case .shutDown: return .shutDown
        }
    }

    var request: Request { .lock(self) }
}

/// What a command wants an unlocked vault for. The user reads it in our words only.
package enum UnlockPurpose: UInt8, Sendable, Hashable, CaseIterable {
    /// The user called for it.
    case unlock = 0
    case entries = 1
    case git = 2
    case registry = 3
}

extension Cursor {
    /// How long the vault is to stay open: seconds without use, and in any case; nil where the agent's own hold.
    mutating func times(_ body: RawSpan) throws(MessageError) -> (UInt32?, UInt32?) {
        let idle = try optional(body, UInt32.self, "idle time")
        let timeout = try optional(body, UInt32.self, "timeout")
        guard idle != 0, timeout != 0 else { throw .invalid(field: "time") }
        return (idle, timeout)
    }
}
