internal import Holdfast
internal import SecretMemory
internal import VaultFormat

extension Item {
    /// Lends a text that a program waits for to show it elsewhere. Nothing of it is empty: an empty token is one that
    /// other programs take for none, and ask without.
    /// - Parameter what: What it is, for the user.
    /// - Throws: `invalidItem` for what is empty or no text, ``Items/Item/requireHere(_:)``, and what `body` throws.
    borrowing func withText(_ part: Part, _ what: String, _ body: (RawSpan) throws -> Void) throws(CommandError) {
        try vaultCall {
            try requireHere(part)
            try withPart(part) { value in
                guard value.isUTF8 else { throw CommandError.failure(.invalidItem, "the \(what) is no text") }
                guard value.endOfText > 0 else { throw CommandError.failure(.invalidItem, "the \(what) is empty") }
                try body(value)
            }
        }
    }
}

extension RawSpan {
    /// Where it ends without what `echo` leaves behind a token.
    var endOfText: Int {
        var end = byteCount
        while end > 0, [0x0A, 0x0D].contains(byte(at: end - 1)) { end -= 1 }
        return end
    }
}
