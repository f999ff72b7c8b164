#if canImport(CryptoKit)
internal import CommonCrypto
internal import CryptoKit
internal import Foundation
package import SecretMemory

// What files of other programs are encrypted with, as on Linux. CryptoKit has neither CBC nor PBKDF2, which the
// system's C library has. The vault itself does not use these.

/// AES-256 as other programs use it.
package enum BlockCipher {
    /// Decrypts in CBC mode (NIST SP 800-38A) and removes the padding of PKCS #7. Check a tag first: an error says that
    /// the padding is wrong.
    /// - Throws: ``CryptographyError/invalidSize`` for other sizes, ``CryptographyError/library(code:)`` for wrong
    ///   padding.
    package static func decryptCBC(
        _ content: RawSpan, key: borrowing SecretBytes, vector: RawSpan
    ) throws(CryptographyError) -> SecretBytes {
        guard content.byteCount > 0, content.byteCount % 16 == 0 else { throw .invalidSize }
        return try run(CCOperation(kCCDecrypt), content, key: key, vector: vector)
    }

    /// As ``decryptCBC(_:key:vector:)``, the other way.
    /// - Throws: As it.
    package static func encryptCBC(
        _ content: RawSpan, key: borrowing SecretBytes, vector: RawSpan
    ) throws(CryptographyError) -> SecretBytes {
        try run(CCOperation(kCCEncrypt), content, key: key, vector: vector)
    }

    private static func run(
        _ operation: CCOperation, _ content: RawSpan, key: borrowing SecretBytes, vector: RawSpan
    ) throws(CryptographyError) -> SecretBytes {
        guard key.count == 32, vector.byteCount == 16, content.byteCount <= Int(Int32.max) - 64 else {
            throw .invalidSize
        }
        var output = try SecretBytes.zeroed(content.byteCount + 16, lifetime: .transient)
        var moved = 0
        let status = unsafe content.withUnsafeBytes { content in
            unsafe vector.withUnsafeBytes { vector in
                key.withBytes { key in
                    unsafe key.withUnsafeBytes { key in
                        output.withMutableBytes { output in
                            unsafe output.withUnsafeMutableBytes { output in
                                unsafe CCCrypt(
                                    operation, CCAlgorithm(kCCAlgorithmAES), CCOptions(kCCOptionPKCS7Padding),
                                    key.baseAddress, key.count, vector.baseAddress,
                                    content.baseAddress, content.count, output.baseAddress, output.count, &moved)
                            }
                        }
                    }
                }
            }
        }
        // Some systems take a wrong padding for none and leave it where it is.
        let isPadded = operation == CCOperation(kCCEncrypt) || moved < content.byteCount
        guard status == kCCSuccess, isPadded else { throw .library(code: UInt(status.magnitude)) }
        do throws(SecretMemoryError) { return try output.copy(0..<moved) } catch { throw .memory(error) }
    }

    /// Encrypts two blocks again and again, each by itself, as KeePass derives keys.
    /// - Throws: ``CryptographyError/invalidSize`` unless both are 32 bytes.
    package static func transform(
        _ blocks: borrowing SecretBytes, key: borrowing SecretBytes, rounds: UInt64
    ) throws(CryptographyError) -> SecretBytes {
        guard blocks.count == 32, key.count == 32 else { throw .invalidSize }
        var made: CCCryptorRef?
        var status = key.withBytes { key in
            unsafe key.withUnsafeBytes { key in
                unsafe CCCryptorCreate(
                    CCOperation(kCCEncrypt), CCAlgorithm(kCCAlgorithmAES), CCOptions(kCCOptionECBMode), key.baseAddress,
                    key.count, nil, &made)
            }
        }
        guard status == kCCSuccess, let cryptor = unsafe made else { throw .library(code: UInt(status.magnitude)) }
        defer { unsafe _ = CCCryptorRelease(cryptor) }
        var state = try blocks.duplicate()
        state.withMutableBytes { state in
            unsafe state.withUnsafeMutableBytes { state in
                var round: UInt64 = 0
                var moved = 0
                while round < rounds, status == kCCSuccess {
                    status = unsafe CCCryptorUpdate(
                        cryptor, state.baseAddress, state.count, state.baseAddress, state.count, &moved)
                    if moved != 32 { status = CCCryptorStatus(kCCParamError) }
                    round += 1
                }
            }
        }
        guard status == kCCSuccess else { throw .library(code: UInt(status.magnitude)) }
        return state
    }
}

/// AES-256-GCM with a tag that lies elsewhere.
package enum AuthenticatedCipher {
    /// - Throws: ``CryptographyError/authenticationFailed`` for a wrong key or changed bytes.
    package static func open(
        _ content: RawSpan, tag: RawSpan, key: borrowing SecretBytes, nonce: RawSpan
    ) throws(CryptographyError) -> SecretBytes {
        guard tag.byteCount == 16, nonce.byteCount == 12 else { throw .invalidSize }
        var box = try SecretBytes.zeroed(content.byteCount + 16, lifetime: .transient)
        box.withMutableBytes { box in
            box.copy(content, at: 0)
            box.copy(tag, at: content.byteCount)
        }
        var cipher = try CryptoKitAES256GCM(key: key)
        var output = try SecretBytes.zeroed(content.byteCount, lifetime: .transient)
        try box.withBytes { box throws(CryptographyError) in
            try output.withMutableBytes { output throws(CryptographyError) in
                try cipher.open(box, nonce: nonce, authenticating: RawSpan(), into: &output)
            }
        }
        return output
    }
}

/// PBKDF2 with HMAC-SHA-256 (RFC 8018, section 5.2).
package enum PBKDF2SHA256 {
    /// - Throws: ``CryptographyError/invalidSize``, ``CryptographyError/library(code:)``.
    package static func derive(
        _ password: borrowing SecretBytes, salt: RawSpan, rounds: Int, count: Int
    ) throws(CryptographyError) -> SecretBytes {
        guard (1...Int(Int32.max)).contains(rounds), (1...Int(Int32.max)).contains(count) else { throw .invalidSize }
        var output = try SecretBytes.zeroed(count, lifetime: .transient)
        let status = password.withBytes { password in
            unsafe password.withUnsafeBytes { password in
                unsafe salt.withUnsafeBytes { salt in
                    output.withMutableBytes { output in
                        unsafe output.withUnsafeMutableBytes { output in
                            unsafe derive(password, salt, UInt32(rounds), output)
                        }
                    }
                }
            }
        }
        guard status == kCCSuccess else { throw .library(code: UInt(status.magnitude)) }
        return output
    }

    private static func derive(
        _ password: UnsafeRawBufferPointer, _ salt: UnsafeRawBufferPointer, _ rounds: UInt32,
        _ output: UnsafeMutableRawBufferPointer
    ) -> Int32 {
        // An empty password has an address too: nil is an error there.
        var nothing: CChar = 0
        return unsafe withUnsafePointer(to: &nothing) { nothing in
            unsafe CCKeyDerivationPBKDF(
                CCPBKDFAlgorithm(kCCPBKDF2), password.baseAddress?.assumingMemoryBound(to: CChar.self) ?? nothing,
                password.count, salt.baseAddress?.assumingMemoryBound(to: UInt8.self), salt.count,
                CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA256), rounds,
                output.baseAddress?.assumingMemoryBound(to: UInt8.self), output.count)
        }
    }
}

/// SHA-512 (FIPS 180-4).
package enum SHA512 {
    /// The 64 bytes, in locked memory.
    /// - Throws: ``CryptographyError/memory(_:)``.
    package static func hash(_ bytes: RawSpan) throws(CryptographyError) -> SecretBytes {
        let digest = unsafe bytes.withUnsafeBytes { unsafe CryptoKit.SHA512.hash(data: $0) }
        return try digest.secret(lifetime: .transient)
    }
}
#endif
