package import VaultFormat

/// About confirmations of the device owner by the system.
package enum OwnerRequest: RequestArea {
    /// Unlock the vault after the system has confirmed the device owner. Times as for an unlock.
    case confirm(OwnerStep, idle: UInt32?, timeout: UInt32?)
    /// An answer to the prompt of a confirmation.
    case answer(secret: Range<Int>)
    /// The user cancelled a confirmation.
    case cancel
    /// What is known of confirmations?
    case status

    /// Bytes of an answer to a prompt.
    private static let answerSizes = 0...1024

    package enum Kind: UInt8, CaseIterable {
        case confirm = 18, answer = 19, cancel = 20, status = 21
    }

    init(_ kind: Kind, _ cursor: inout Cursor, _ body: RawSpan) throws(MessageError) {
        switch kind {
        case .confirm:
            guard let step = OwnerStep(rawValue: try cursor.integer(body, UInt8.self)) else {
                throw .invalid(field: "step")
            }
            let (idle, timeout) = try cursor.times(body)
            self = .confirm(step, idle: idle, timeout: timeout)
        case .answer: self = .answer(secret: try cursor.rest(OwnerRequest.answerSizes, "answer"))
        case .cancel: self = .cancel
        case .status: self = .status
        }
    }

    func write(_ writer: inout Writer) -> Kind {
        switch self {
        case .confirm(let step, let idle, let timeout):
            writer.integer(step.rawValue)
            writer.optional(idle)
            writer.optional(timeout)
            return .confirm
        case .answer: return .answer
        case .cancel: return .cancel
        case .status: return .status
        }
    }

    var request: Request { .owner(self) }
}

extension OwnerPrompt {
    static let textSizes = 0...1024

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        let style = try cursor.integer(bytes, UInt8.self)
        let text = try cursor.text(bytes, OwnerPrompt.textSizes, "text")
        guard let prompt = OwnerPrompt(style: style, text: text) else { throw .invalid(field: "style") }
        self = prompt
    }

    func write(_ writer: inout Writer) {
        writer.integer(coded.style)
        writer.text(coded.text, atMost: OwnerPrompt.textSizes.upperBound)
    }
}

/// An agent's state of the owner steps.
package struct OwnerStatus: Sendable, Hashable {
    /// Nil while a confirmed owner opens the vault.
    package let expiry: OwnerExpiry?
    /// Milliseconds since the passcode was right; nil when it was not.
    package let sincePasscode: UInt64?
    /// Samples without a match since then.
    package let nonMatches: UInt32

    package init(expiry: OwnerExpiry?, sincePasscode: UInt64?, nonMatches: UInt32) {
        self.expiry = expiry
        self.sincePasscode = sincePasscode
        self.nonMatches = nonMatches
    }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        let number = try cursor.integer(bytes, UInt8.self)
        expiry = OwnerExpiry(rawValue: number)
        guard expiry != nil || number == 0 else { throw .invalid(field: "expiry") }
        sincePasscode = try cursor.optional(bytes, UInt64.self, "time")
        nonMatches = try cursor.integer(bytes, UInt32.self)
    }

    func write(_ writer: inout Writer) {
        writer.integer(expiry?.rawValue ?? 0)
        writer.optional(sincePasscode)
        writer.integer(nonMatches)
    }
}
