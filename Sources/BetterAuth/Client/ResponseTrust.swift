public import BetterAuthMessages

/// How a client knows a server's response key.
public enum ResponseTrust: Sendable {
    /// These, and no others.
    case pinned([PublicKeyText])
    /// Whatever a source vouches for: a key chain.
    case source(any ServerKeySource)
    /// The key that `/key/response` names at the first contact, and no other from then on. An attacker between client
    /// and server at that moment can impersonate the server for ever; the user is warned.
    case firstUse
}

/// Something that the owner should hear of, although it is no failure.
public enum IdentityNotice: Sendable, Hashable {
    /// A server's response key was believed because it was the first one.
    case trustedFirstKey(PublicKeyText, server: String)
    /// An operation from earlier has come to its end: it took effect.
    case settled(RotationEffect)
    /// Of several requests from earlier one took effect, and it cannot be told which.
    case settledOneOf([RotationEffect])
    /// The server did not want an operation, or it did not get through. It did not take effect and never will.
    case abandoned(RotationEffect)
    /// An account that was being created, recovered or linked is there.
    case confirmed(StagedAccount.Kind)
}
