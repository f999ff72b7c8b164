/// A digest with a meaning of its own, so that none is taken for another (protocol.md 1.2).
public protocol DigestIdentifier: CESRText {
    /// What it consists of.
    var digest: DigestText { get }
    /// Gives a digest this meaning.
    init(_ digest: DigestText)
}

extension DigestIdentifier {
    /// Reads a text; nil unless it is the one spelling of a value.
    public init?(text: RawSpan) {
        guard let digest = DigestText(text: text) else { return nil }
        self.init(digest)
    }

    /// Lends the text.
    public func withText<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try digest.withText(body)
    }
}

extension CESRValue where Self: DigestIdentifier {
    /// Its code and sizes.
    package static var form: CESRForm { .digest }

    /// Takes a raw value; nil for another size.
    package init?(raw: RawSpan) {
        guard let digest = DigestText(raw: raw) else { return nil }
        self.init(digest)
    }

    /// Lends the raw value.
    package func withRawBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try digest.withRawBytes(body)
    }
}

/// Names an account for ever: the digest of its first device's key, rotation hash and recovery hash.
public struct IdentityID: DigestIdentifier, CESRValue {
    /// What it consists of.
    public let digest: DigestText
    /// Gives a digest this meaning.
    public init(_ digest: DigestText) { self.digest = digest }
}

/// Names a device for ever: the digest of its first key and rotation hash.
public struct DeviceID: DigestIdentifier, CESRValue {
    /// What it consists of.
    public let digest: DigestText
    /// Gives a digest this meaning.
    public init(_ digest: DigestText) { self.digest = digest }
}

/// Commits to the next key of a chain: the digest of its public key's text.
package struct RotationHash: DigestIdentifier, CESRValue {
    /// What it consists of.
    package let digest: DigestText
    /// Gives a digest this meaning.
    package init(_ digest: DigestText) { self.digest = digest }
}

/// Commits to the recovery key: the digest of its public key's text.
public struct RecoveryHash: DigestIdentifier, CESRValue {
    /// What it consists of.
    public let digest: DigestText
    /// Gives a digest this meaning.
    public init(_ digest: DigestText) { self.digest = digest }
}
