#if canImport(CSodium)
internal import CSodium

/// libsodium's once-only start.
enum Sodium {
    static let isReady: Bool = sodium_init() >= 0
}

/// Argon2id (RFC 9106) through libsodium, about twice as fast as Debian's libargon2. One lane, 16-byte salt.
package enum SodiumArgon2id {
    package static let saltSize = 16

    /// Derives `count` bytes from `passcode`.
    /// - Parameters:
    ///   - salt: 16 bytes.
    ///   - passes: Time cost, 1 or more.
    ///   - memoryKiB: Memory cost in KiB, 8 or more.
    ///   - count: Bytes to derive, 16 or more.
    /// - Throws: ``SecretMemoryError/derivationOutOfMemory``, ``SecretMemoryError/invalidSize(_:)`` for a salt or cost
    ///   that libsodium does not take.
    package static func derive(
        _ passcode: borrowing SecretBytes, salt: RawSpan, passes: Int, memoryKiB: Int, count: Int
    ) throws(SecretMemoryError) -> SecretBytes {
        guard Sodium.isReady else { throw .libraryUnavailable }
        guard salt.byteCount == saltSize else { throw .invalidSize(salt.byteCount) }
        guard count >= 16 else { throw .invalidSize(count) }
        guard passes >= 1, passes <= Int(UInt32.max), memoryKiB >= 8, memoryKiB <= 4 << 20 else {
            throw .invalidSize(memoryKiB)
        }
        var output = try SecretBytes(zeroed: count)
        let status = output.withMutableBytes { output in
            passcode.withBytes { passcode in
                unsafe output.withUnsafeMutableBytes { output in
                    unsafe passcode.withUnsafeBytes { passcode in
                        unsafe salt.withUnsafeBytes { salt in
                            unsafe crypto_pwhash(
                                output.bindMemory(to: UInt8.self).baseAddress!, UInt64(output.count),
                                passcode.bindMemory(to: CChar.self).baseAddress!, UInt64(passcode.count),
                                salt.bindMemory(to: UInt8.self).baseAddress!,
                                UInt64(passes), memoryKiB * 1024, crypto_pwhash_ALG_ARGON2ID13)
                        }
                    }
                }
            }
        }
        guard status == 0 else { throw .derivationOutOfMemory }
        return output
    }
}
#endif
