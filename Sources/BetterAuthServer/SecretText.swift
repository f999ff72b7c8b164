package import SecretMemory

/// A text that is secret, or that has a secret in it, such as a token or a URL with a password: in locked memory for as
/// long as it is needed again. What a client library makes of it is that library's own.
package final class SecretText: Sendable {
    /// With a zero behind it, as C wants it.
    private let bytes: SecretBytes

    /// - Throws: ``SecretMemory/SecretMemoryError``.
    package init(copying text: RawSpan) throws(SecretMemoryError) {
        var bytes = try SecretBytes(zeroed: text.byteCount + 1, lifetime: .longLived)
        bytes.withMutableBytes { target in
            unsafe target.withUnsafeMutableBytes { target in
                unsafe text.withUnsafeBytes { text in unsafe target.copyBytes(from: text) }
            }
        }
        self.bytes = bytes
    }

    /// A text that is in ordinary memory anyway.
    package convenience init(_ text: String) throws(SecretMemoryError) {
        let bytes = Array(text.utf8)
        try unsafe self.init(copying: bytes.span.bytes)
    }

    /// Moves bytes: the array's own are overwritten.
    package convenience init(wiping text: inout [UInt8]) throws(SecretMemoryError) {
        defer { SecretText.wipe(&text) }
        try unsafe self.init(copying: text.span.bytes)
    }

    /// Its UTF-8.
    package func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try bytes.withBytes { bytes throws(E) in try body(bytes.extracting(0..<(bytes.byteCount - 1))) }
    }

    /// Its UTF-8 in an array, which is overwritten afterwards.
    package func withArray<R, E: Error>(_ body: ([UInt8]) throws(E) -> R) throws(E) -> R {
        var array = withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
        defer { SecretText.wipe(&array) }
        return try body(array)
    }

    /// As C takes it.
    package func withCString<R>(_ body: (UnsafePointer<CChar>) throws -> R) rethrows -> R {
        try bytes.withBytes { bytes in
            try unsafe bytes.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { preconditionFailure("a text has an end") }
                return try unsafe body(start.assumingMemoryBound(to: CChar.self))
            }
        }
    }

    package func isEqual(to other: SecretText) -> Bool { bytes.isEqual(to: other.bytes) }

    package func hasPrefix(_ text: String) -> Bool { withArray { $0.starts(with: Array(text.utf8)) } }

    /// Overwrites an array where it lies.
    package static func wipe(_ array: inout [UInt8]) { array.wipe() }
}
