internal import CPlatform

extension SecretBytes {
    /// Copies the UTF-8 of a text, such as that of a password field, into locked memory.
    ///
    /// Nothing can wipe a `String`: this one, the field that it came from and every copy of it stay in ordinary memory
    /// until something else is written there. Empty the field at once and keep no reference to the text. A secret that
    /// need not be a `String` comes in through ``init(wiping:lifetime:)``.
    /// - Throws: ``SecretMemoryError`` when the memory cannot be had.
    public init(utf8 text: String, lifetime: SecretLifetime = .transient) throws(SecretMemoryError) {
        var text = text
        self = try SecretBytes(zeroed: text.utf8.count, lifetime: lifetime)
        withMutableBytes { (secret: inout MutableRawSpan) in
            unsafe secret.withUnsafeMutableBytes { secret in
                text.withUTF8 { unsafe secret.copyBytes(from: $0) }
            }
        }
        cplatform_wipe_registers()  // they were copied through vectors
    }

    /// Moves bytes into locked memory: the array's own are overwritten and the array is empty when this returns or
    /// throws.
    ///
    /// An array that shares its storage with another variable is copied by Swift before it is overwritten; the other
    /// one then still has the bytes. Nor can this reach what made the array: a buffer that it grew out of, a stream, a
    /// decoder.
    /// - Throws: ``SecretMemoryError`` when the memory cannot be had.
    public init(wiping bytes: inout [UInt8], lifetime: SecretLifetime = .transient) throws(SecretMemoryError) {
        defer {
            bytes.wipe()
            bytes = []
        }
        self = try unsafe SecretBytes(copying: bytes.span.bytes, lifetime: lifetime)
    }
}

extension [UInt8] {
    /// Overwrites every byte with zero where it lies, unless another variable shares the storage.
    package mutating func wipe() {
        unsafe withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { unsafe cplatform_wipe(base, bytes.count) }
        }
    }
}
