#if canImport(CryptoKit)
internal import CryptoKit
internal import Foundation
internal import SecretMemory

// How bytes cross into CryptoKit, which takes anything contiguous and gives `Data` back.

extension SymmetricKey {
    /// Copies the secret into memory that CryptoKit wipes when the key goes.
    init(copying secret: borrowing SecretBytes) {
        self = secret.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe SymmetricKey(data: $0) } }
    }
}

extension ContiguousBytes {
    /// The bytes as an array; never of a secret.
    func array() -> [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }

    /// Copies the bytes into locked memory.
    /// - Throws: ``CryptographyError/memory(_:)``.
    func secret(lifetime: SecretLifetime) throws(CryptographyError) -> SecretBytes {
        var secret = try SecretBytes.zeroed(unsafe withUnsafeBytes { $0.count }, lifetime: lifetime)
        secret.withMutableBytes { $0.copy(self, at: 0) }
        return secret
    }
}

extension Data {
    /// Overwrites what CryptoKit handed out in ordinary memory. Effective because this value is not shared: a shared
    /// one would be copied first.
    mutating func wipe() {
        unsafe withUnsafeMutableBytes { bytes in
            var span = unsafe MutableRawSpan(_unsafeBytes: bytes)
            span.wipe()
        }
    }
}

extension MutableRawSpan {
    /// Copies bytes to a place in these; the caller has checked that they fit.
    mutating func copy(_ bytes: some ContiguousBytes, at offset: Int) {
        unsafe withUnsafeMutableBytes { target in
            unsafe bytes.withUnsafeBytes { source in
                guard let base = source.baseAddress, offset + source.count <= target.count else { return }
                unsafe (target.baseAddress! + offset).copyMemory(from: base, byteCount: source.count)
            }
        }
    }

    /// As ``copy(_:at:)-(some_ContiguousBytes,_)``.
    mutating func copy(_ bytes: RawSpan, at offset: Int) {
        unsafe bytes.withUnsafeBytes { unsafe copy($0, at: offset) }
    }
}

extension CryptographyError {
    /// What CryptoKit threw. It carries no text of ours, but its words are not passed on either.
    init(cryptoKit error: any Error) {
        switch error {
        case CryptoKitError.authenticationFailure: self = .authenticationFailed
        case CryptoKitError.incorrectKeySize, CryptoKitError.incorrectParameterSize: self = .invalidSize
        case CryptoKitError.underlyingCoreCryptoError(let code): self = .library(code: UInt(code.magnitude))
        default: self = .library(code: 0)
        }
    }

    /// Runs something of CryptoKit and gives its error a type.
    static func converting<R>(_ body: () throws -> R) throws(CryptographyError) -> R {
        do { return try body() } catch { throw CryptographyError(cryptoKit: error) }
    }
}
#endif
