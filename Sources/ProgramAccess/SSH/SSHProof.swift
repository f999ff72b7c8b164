internal import Cryptography
package import ProgramProtocols

extension SSHBinding {
    /// Whether the host has signed the session. A host whose key is of a kind that is not kept here proves nothing.
    package func isProved(in message: RawSpan) -> Bool {
        guard let proof = try? proof(in: message) else { return false }
        let session = message.extracting(self.session)
        switch proof.kind {
        case .ed25519:
            return
                (try? unsafe Ed25519PublicKey(proof.point.span.bytes).isValid(
                    signature: proof.signature.span.bytes, for: session)) ?? false
        case .p384, .p521, .rsa: return false
        case .p256:
            let short = [2 | proof.point[64] & 1] + proof.point[1...32]
            guard let key = try? unsafe P256PublicKey(compressed: short.span.bytes),
                key.uncompressed == proof.point
            else { return false }
            return unsafe key.isValid(signature: proof.signature.span.bytes, for: session)
        }
    }
}
