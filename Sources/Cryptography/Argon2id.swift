package import SecretMemory

#if canImport(CArgon2)
package typealias LongSaltArgon2id = LibArgon2id
#else
#error("no Argon2id backend for salts that are not 16 bytes")
#endif

/// Argon2id version 1.3 (RFC 9106): turns a passcode into a key at a chosen cost in time and memory.
///
/// Costs that come from a file must be checked against a floor and a ceiling before they reach this type.
package enum Argon2id {
    /// Bytes of the salt that ``derive(_:salt:passes:memoryKiB:count:)`` takes.
    package static let saltSize = 16

    /// Derives a key with one lane.
    /// - Parameters:
    ///   - passcode: UTF-8 bytes; not normalised here.
    ///   - salt: 16 bytes.
    ///   - passes: 1 or more.
    ///   - memoryKiB: 8 KiB to 4 GiB.
    ///   - count: 16 bytes or more.
    /// - Throws: ``CryptographyError/invalidSize`` for parameters outside these ranges,
    ///   ``CryptographyError/memory(_:)`` when the working memory or the locked result cannot be had.
    package static func derive(
        _ passcode: borrowing SecretBytes, salt: RawSpan, passes: Int, memoryKiB: Int, count: Int = 32
    ) throws(CryptographyError) -> SecretBytes {
        defer { WorkingMemory.wipeAll() }
        guard count >= 16 else { throw .invalidSize }
        #if canImport(CryptoKit)
        // Apple systems have no libsodium.
        guard salt.byteCount == saltSize else { throw .invalidSize }
        return try deriveWithLongSalt(
            passcode, salt: salt, passes: passes, memoryKiB: memoryKiB, lanes: 1, count: count)
        #else
        do throws(SecretMemoryError) {
            return try SodiumArgon2id.derive(passcode, salt: salt, passes: passes, memoryKiB: memoryKiB, count: count)
        } catch {
            if case .invalidSize = error { throw .invalidSize }
            throw .memory(error)
        }
        #endif
    }

    /// Derives a key with a salt of another size or with several lanes, each in a thread of its own; at one lane about
    /// half as fast as ``derive(_:salt:passes:memoryKiB:count:)``, with the same result.
    /// - Parameters:
    ///   - secret: What is stretched.
    ///   - salt: 8 to 64 bytes.
    ///   - passes: 1 or more.
    ///   - memoryKiB: 8 KiB per lane to 4 GiB.
    ///   - lanes: 1 to 255.
    ///   - count: 4 bytes or more.
    ///   - key: RFC 9106's optional secret value K; empty means none.
    ///   - associatedData: RFC 9106's optional X; empty means none.
    ///   - isDataDependent: Argon2d in place of Argon2id, for files of other programs only.
    /// - Throws: ``CryptographyError/invalidSize`` for parameters outside these ranges,
    ///   ``CryptographyError/memory(_:)`` when the working memory or the locked result cannot be had,
    ///   ``CryptographyError/library(code:)`` when a thread cannot be started.
    package static func deriveWithLongSalt(
        _ secret: borrowing SecretBytes, salt: RawSpan, passes: Int, memoryKiB: Int, lanes: Int, count: Int,
        secret key: RawSpan = RawSpan(), associatedData: RawSpan = RawSpan(), isDataDependent: Bool = false
    ) throws(CryptographyError) -> SecretBytes {
        guard salt.byteCount >= 8, salt.byteCount <= 64, passes >= 1, passes <= Int(UInt32.max), lanes >= 1,
            lanes <= 255, memoryKiB >= 8 * lanes, memoryKiB <= 4 << 20, count >= 4, count <= 1 << 30,
            key.byteCount <= 1 << 30, associatedData.byteCount <= 1 << 30
        else { throw .invalidSize }
        defer { WorkingMemory.wipeAll() }
        var output = try SecretBytes.zeroed(count, lifetime: .transient)
        try secret.withBytes { password throws(CryptographyError) in
            try output.withMutableBytes { output throws(CryptographyError) in
                try LongSaltArgon2id.derive(
                    password, salt: salt, passes: UInt32(passes), memoryKiB: UInt32(memoryKiB), lanes: UInt32(lanes),
                    secret: key, associatedData: associatedData, isDataDependent: isDataDependent,
                    into: &output)
            }
        }
        return output
    }
}
