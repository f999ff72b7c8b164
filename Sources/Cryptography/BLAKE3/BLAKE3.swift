package import SecretMemory

/// An incremental BLAKE3 hash in bounded memory, whatever the size of the input (BLAKE3 paper, sections 2.1 to 2.6).
///
/// The key, the input that waits and everything computed of them lie outside the value and are wiped when it ends: in
/// locked memory for the keyed modes, for deriving, and for the plain hash of a secret. Works through four chunks side by side, so large updates are faster
/// than small ones. It is no password hash: stretch a passcode with Argon2id first.
package struct BLAKE3: ~Copyable, Sendable {
    let memory: Memory
    let flags: UInt32
    /// Whole chunks before the current one.
    var chunkCounter: UInt64 = 0
    /// Bytes taken into the current chunk, 0...1,024. The last 1...64 of them wait in the block buffer.
    var chunkLength = 0
    /// Subtrees that wait for their right sibling.
    var stackCount = 0

    /// The plain hash, for data that is not secret.
    package init() {
        self.init(key: Self.initialisationVector, flags: 0, memory: Memory())
    }

    /// The keyed mode: a MAC or a pseudo-random function (BLAKE3 paper, section 2.3).
    /// - Parameter key: 32 bytes.
    /// - Throws: ``CryptographyError/invalidSize``, ``CryptographyError/memory(_:)``.
    package init(key: borrowing SecretBytes) throws(CryptographyError) {
        let words = try key.withBytes { bytes throws(CryptographyError) in try Self.keyWords(bytes) }
        try self.init(lockedWithKey: words, flags: Flag.keyedHash)
    }

    /// The key derivation mode; the input is the key material (BLAKE3 paper, section 2.3).
    /// - Parameter deriveKeyContext: A constant of the program, different for each use of the material.
    /// - Throws: ``CryptographyError/memory(_:)``.
    package init(deriveKeyContext: String) throws(CryptographyError) {
        try self.init(lockedWithKey: Self.contextKey(deriveKeyContext), flags: Flag.deriveKeyMaterial)
    }

    /// The plain hash of an input that is secret.
    /// - Throws: ``CryptographyError/memory(_:)``.
    package static func ofSecret() throws(CryptographyError) -> BLAKE3 {
        try BLAKE3(lockedWithKey: initialisationVector, flags: 0)
    }

    /// The digest of all bytes so far; more may follow.
    package mutating func finalize() -> Digest {
        Digest(rootValue(rootOutput()))
    }

    /// Fills `output` with the first bytes of the extendable output, of which the digest is the first 32.
    package mutating func finalize(into output: inout MutableRawSpan) {
        write(rootOutput(), into: &output)
    }

    init(lockedWithKey key: ChainingValue, flags: UInt32) throws(CryptographyError) {
        do throws(SecretMemoryError) {
            self.init(key: key, flags: flags, memory: try Memory.locked())
        } catch {
            throw .memory(error)
        }
    }

    init(key: ChainingValue, flags: UInt32, memory: consuming Memory) {
        self.memory = memory
        self.flags = flags
        self.memory.store(key, at: Memory.key)
        self.memory.store(key, at: Memory.chainingValue)
    }
}
