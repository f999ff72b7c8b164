package import SecretMemory

package func secret(_ bytes: [UInt8]) throws -> SecretBytes { try unsafe SecretBytes(copying: bytes.span.bytes) }

package func secret(_ text: String) throws -> SecretBytes { try secret(Array(text.utf8)) }

extension SecretBytes {
    /// A copy in ordinary memory; what tests keep in a secret is not secret.
    package borrowing func revealed() -> [UInt8] { withBytes { $0.array } }
}

extension RawSpan {
    package var array: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}
