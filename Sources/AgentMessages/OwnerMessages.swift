/// What a sensor has to say while it looks.
package enum Guidance: UInt8, Sendable, Hashable, CaseIterable {
    case touch = 1
    case retry = 2
    case tooShort = 3
    case notCentred = 4
    case removeAndRetry = 5
    case noMatch = 6
    case checking = 7
}

/// What a check of the account's passcode wants to have shown or answered. The text is the system's own.
package struct Prompt: Sendable, Hashable {
    static let textSizes = 0...1024

    /// How it is shown.
    package enum Style: UInt8, Sendable, Hashable, CaseIterable {
        /// Answered, and not shown while it is typed.
        case hidden = 1
        /// Answered, and shown.
        case shown = 2
        /// Only to be read.
        case information = 3
        /// A problem, only to be read.
        case problem = 4

        /// Whether ``Request/answer(secret:)`` must follow.
        package var needsAnswer: Bool { self == .hidden || self == .shown }
    }

    package let style: Style
    package let text: String

    package init(style: Style, text: String) {
        self.style = style
        self.text = text
    }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        guard let style = Style(rawValue: try cursor.integer(bytes, UInt8.self)) else { throw .invalid(field: "style") }
        self.style = style
        text = try cursor.text(bytes, Prompt.textSizes, "text")
    }

    func write(_ writer: inout Writer) {
        writer.integer(style.rawValue)
        writer.text(text, atMost: Prompt.textSizes.upperBound)
    }
}

/// What an agent says of its owner's way in.
package struct OwnerStatus: Sendable, Hashable {
    /// Why only the passcode is taken.
    package enum Expiry: UInt8, Sendable, Hashable, CaseIterable {
        case noPasscode = 1
        case nonMatches = 2
        case enrollmentChanged = 3
    }

    /// Nil while a confirmed owner opens the vault.
    package let expiry: Expiry?
    /// Milliseconds since the passcode was right; nil when it was not.
    package let sincePasscode: UInt64?
    /// Samples without a match since then.
    package let nonMatches: UInt32

    package init(expiry: Expiry?, sincePasscode: UInt64?, nonMatches: UInt32) {
        self.expiry = expiry
        self.sincePasscode = sincePasscode
        self.nonMatches = nonMatches
    }

    init(_ cursor: inout Cursor, _ bytes: RawSpan) throws(MessageError) {
        let number = try cursor.integer(bytes, UInt8.self)
        expiry = Expiry(rawValue: number)
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
