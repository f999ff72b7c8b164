package import SecretMemory

extension BLAKE3 {
    /// The digest of `bytes` in one call; up to 1,024 bytes allocate nothing.
    package static func hash(_ bytes: RawSpan) -> Digest {
        guard bytes.byteCount > chunkSize else {
            return singleChunk(bytes, key: initialisationVector, flags: 0)
        }
        var hasher = BLAKE3()
        hasher.update(bytes)
        return hasher.finalize()
    }

    /// The keyed digest of `bytes` in one call; up to 1,024 bytes allocate nothing.
    ///
    /// Those are hashed in registers and on the stack, for lookups: the caller clears both when its own work is done
    /// (``SecretMemory/WorkingMemory``).
    /// - Parameter key: 32 bytes.
    /// - Throws: ``CryptographyError/invalidSize``; above 1,024 bytes also ``CryptographyError/memory(_:)``.
    package static func keyedHash(_ bytes: RawSpan, key: RawSpan) throws(CryptographyError) -> Digest {
        let words = try keyWords(key)
        guard bytes.byteCount > chunkSize else {
            return singleChunk(bytes, key: words, flags: Flag.keyedHash)
        }
        var hasher = try BLAKE3(lockedWithKey: words, flags: Flag.keyedHash)
        hasher.update(bytes)
        return hasher.finalize()
    }

    /// The keyed digest of the first `count` of 64 bytes, of which the others are zero: for short inputs that the caller
    /// puts together anyway.
    /// - Parameter key: 32 bytes.
    /// - Throws: ``CryptographyError/invalidSize``.
    package static func keyedHash(
        padded block: RawSpan, count: Int, key: RawSpan
    ) throws(CryptographyError) -> Digest {
        guard block.byteCount == 64, 0...64 ~= count else { throw .invalidSize }
        let flags = Flag.keyedHash | Flag.chunkStart | Flag.chunkEnd | Flag.root
        return Digest(try compress(keyWords(key), block, at: 0, counter: 0, length: UInt32(count), flags: flags))
    }

    /// A 32-byte key for one purpose, from key material of any size (BLAKE3 paper, section 2.3).
    ///
    /// The material must be unguessable: this is no password hash.
    /// - Parameter context: A constant of the program, different for each use of the material.
    /// - Throws: ``CryptographyError/memory(_:)``.
    package static func deriveKey(
        context: String, material: borrowing SecretBytes, lifetime: SecretLifetime
    ) throws(CryptographyError) -> SecretBytes {
        var hasher = try BLAKE3(deriveKeyContext: context)
        material.withBytes { hasher.update($0) }
        do throws(SecretMemoryError) {
            return try SecretBytes(count: 32, lifetime: lifetime) { hasher.finalize(into: &$0) }
        } catch {
            throw .memory(error)
        }
    }

    @inline(__always)
    static func keyWords(_ key: RawSpan) throws(CryptographyError) -> ChainingValue {
        guard key.byteCount == 32 else { throw .invalidSize }
        return unsafe key.unsafeLoadUnaligned(as: ChainingValue.self)
    }

    /// The key that stands for a context; public, as the context is.
    static func contextKey(_ context: String) -> ChainingValue {
        var context = context
        return context.withUTF8 { utf8 in
            var hasher = BLAKE3(key: initialisationVector, flags: Flag.deriveKeyContext, memory: Memory())
            hasher.update(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(utf8)))
            return hasher.rootValue(hasher.rootOutput())
        }
    }

    @inline(__always)
    private static func singleChunk(_ bytes: RawSpan, key: ChainingValue, flags: UInt32) -> Digest {
        Digest(
            chunk(bytes, at: 0, count: bytes.byteCount, counter: 0, key: key, flags: flags, endFlags: Flag.root))
    }
}
