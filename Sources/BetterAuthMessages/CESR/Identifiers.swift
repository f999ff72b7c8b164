/// A digest with a meaning of its own, so that none is taken for another (protocol, section 1).
package protocol DigestIdentifier: CESRText {
    /// What it consists of.
    var digest: DigestText { get }
    /// Gives a digest this meaning.
    init(_ digest: DigestText)
}

extension DigestIdentifier {
    package static var textSize: Int { DigestText.textSize }
    package static var rawSize: Int { DigestText.rawSize }

    package init?(text: RawSpan) {
        guard let digest = DigestText(text: text) else { return nil }
        self.init(digest)
    }

    package init?(raw: RawSpan) {
        guard let digest = DigestText(raw: raw) else { return nil }
        self.init(digest)
    }

    package func withRawBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try digest.withRawBytes(body)
    }

    package func withText<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try digest.withText(body)
    }
}

/// Names an account for ever: the digest of its first device's key, rotation hash and recovery hash.
package struct IdentityID: DigestIdentifier {
    package let digest: DigestText
    package init(_ digest: DigestText) { self.digest = digest }
}

/// Names a device for ever: the digest of its first key and rotation hash.
package struct DeviceID: DigestIdentifier {
    package let digest: DigestText
    package init(_ digest: DigestText) { self.digest = digest }
}

/// Commits to the next key of a chain: the digest of its public key's text.
package struct RotationHash: DigestIdentifier {
    package let digest: DigestText
    package init(_ digest: DigestText) { self.digest = digest }
}

/// Commits to the recovery key: the digest of its public key's text.
package struct RecoveryHash: DigestIdentifier {
    package let digest: DigestText
    package init(_ digest: DigestText) { self.digest = digest }
}
