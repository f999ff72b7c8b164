package import BetterAuthMessages
internal import Cryptography

/// Names one operation: the digest of its path and its whole body, signature included (constructions.md 10.3).
package struct OperationKey: DigestIdentifier, CESRValue {
    package let digest: DigestText
    package init(_ digest: DigestText) { self.digest = digest }

    package init(path: String, body: [UInt8]) { unsafe self.init(path: path, body: body.span.bytes) }

    package init(path: String, body: RawSpan) {
        var text = Array(path.utf8)
        unsafe body.withUnsafeBytes { unsafe text.append(contentsOf: $0) }
        // Paths begin with a slash and bodies with a brace, so the joint is where it seems to be.
        digest = unsafe Derivations.blake3(text.span.bytes)
    }
}

extension Derivations {
    /// With BLAKE3-256, the only hash of the suite.
    package static let server = Derivations(hash: blake3)

    static func blake3(_ bytes: RawSpan) -> DigestText {
        let digest = BLAKE3.hash(bytes)
        return DigestText { target in
            digest.withBytes { source in
                unsafe target.withUnsafeMutableBytes { target in
                    unsafe source.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
                }
            }
        }
    }
}
