internal import VaultFormat

/// About the change of self-destruct that is under way.
package enum ChangeRequest: RequestArea {
    /// Begin a change: authenticates. `countdown` is seconds, and nil where the vault's rules hold.
    case begin(Change, countdown: UInt32?, secret: Range<Int>)
    /// The user was warned and confirmed: the countdown begins.
    case confirm
    /// The countdown is over: authenticates again and writes the change.
    case finish(secret: Range<Int>)
    /// Cancel the pending change, whichever client began it. Nothing is changed.
    case cancel
    /// What change is pending?
    case pending

    /// What it leads to.
    package enum Change: UInt8, Sendable, Hashable {
        case enable = 1
        case disable = 2
    }

    package enum Kind: UInt8, CaseIterable {
        case begin = 13, confirm = 14, finish = 15, cancel = 16, pending = 17
    }

    init(_ kind: Kind, _ cursor: inout Cursor, _ body: RawSpan) throws(MessageError) {
        switch kind {
        case .begin:
            guard let change = Change(rawValue: try cursor.integer(body, UInt8.self)) else {
                throw .invalid(field: "change")
            }
            let countdown = try cursor.optional(body, UInt32.self, "countdown")
            self = .begin(change, countdown: countdown, secret: try cursor.rest(UnlockSecret.sizes, "secret"))
        case .confirm: self = .confirm
        case .finish: self = .finish(secret: try cursor.rest(UnlockSecret.sizes, "secret"))
        case .cancel: self = .cancel
        case .pending: self = .pending
        }
    }

    func write(_ writer: inout Writer) -> Kind {
        switch self {
        case .begin(let change, let countdown, _):
            writer.integer(change.rawValue)
            writer.optional(countdown)
            return .begin
        case .confirm: return .confirm
        case .finish: return .finish
        case .cancel: return .cancel
        case .pending: return .pending
        }
    }

    var request: Request { .change(self) }
}

/// A change of self-destruct that an agent holds.
package struct PendingChange: Sendable, Hashable {
    /// What it leads to.
    package let change: ChangeRequest.Change
    /// The whole countdown in milliseconds.
    package let countdown: UInt64
    /// Milliseconds left of it, 0 when the last authentication is due; nil when it has not begun.
    package let remaining: UInt64?

    package init(change: ChangeRequest.Change, countdown: UInt64, remaining: UInt64?) {
        self.change = change
        self.countdown = countdown
        self.remaining = remaining
    }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        guard let change = ChangeRequest.Change(rawValue: try cursor.integer(bytes, UInt8.self)) else {
            throw .invalid(field: "change")
        }
        self.change = change
        countdown = try cursor.integer(bytes, UInt64.self)
        remaining = try cursor.optional(bytes, UInt64.self, "time")
    }

    func write(_ writer: inout Writer) {
        writer.integer(change.rawValue)
        writer.integer(countdown)
        writer.optional(remaining)
    }
}
