internal import BetterAuthMessages

/// The authority that the user trusts for a server's response key.
enum Authority: Hashable {
    /// That key itself.
    case key(PublicKeyText)
    /// The key chain with this first event, which endorses keys (protocol.md 10.4).
    case chain(DigestText)

    /// Tells which by the form of the text; each has one spelling.
    init(_ text: String) throws(CommandError) {
        if let key = PublicKeyText(text) {
            self = .key(key)
        } else if let identity = DigestText(text) {
            self = .chain(identity)
        } else {
            throw .usage(
                "\(Escaping.sentence(text)) is neither a public key (48 characters beginning with 1AAI) nor the id of a "
                    + "key chain (44 characters beginning with E)")
        }
    }
}
