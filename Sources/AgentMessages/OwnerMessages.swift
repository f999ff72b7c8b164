package import VaultFormat

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
