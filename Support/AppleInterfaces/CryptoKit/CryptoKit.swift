// CryptoKit as far as Holdfast uses it, with real results from libcrypto: vectors that pass here show that the backend
// puts sizes, orders and encodings together as they should be.
import CStandInCrypto
@_exported import Foundation

public enum CryptoKitError: Error, Equatable, Sendable {
    case incorrectKeySize, incorrectParameterSize, authenticationFailure, wrapFailure, unwrapFailure, invalidParameter
    case underlyingCoreCryptoError(error: Int32)
}

func bytes<C: ContiguousBytes>(_ value: C) -> [UInt8] { value.withUnsafeBytes { Array($0) } }

func checked(_ status: Int32) throws { if status != 1 { throw CryptoKitError.underlyingCoreCryptoError(error: status) } }

// MARK: Hashes

public protocol HashFunction: Sendable {
    associatedtype Digest: CryptoKit.Digest
    static func digest(_ message: [UInt8]) -> Digest  // ours
    static var standInName: String { get }  // ours
}
extension HashFunction {
    public static func hash<D: DataProtocol>(data: D) -> Digest { digest(Array(data)) }
}
public protocol Digest: Hashable, ContiguousBytes, Sequence, Sendable where Element == UInt8 {
    static var byteCount: Int { get }
}
public struct SHA256Digest: Digest {
    let value: [UInt8]
    public static var byteCount: Int { 32 }
    public func makeIterator() -> Array<UInt8>.Iterator { value.makeIterator() }
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try value.withUnsafeBytes(body)
    }
}
public struct SHA256: HashFunction {
    public static let standInName = "SHA256"
    public static func digest(_ message: [UInt8]) -> SHA256Digest {
        var digest = [UInt8](repeating: 0, count: 32)
        precondition(standin_sha256(message, message.count, &digest) == 1)
        return SHA256Digest(value: digest)
    }
}

public struct SHA512Digest: Digest {
    let value: [UInt8]
    public static var byteCount: Int { 64 }
    public func makeIterator() -> Array<UInt8>.Iterator { value.makeIterator() }
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try value.withUnsafeBytes(body)
    }
}
public struct SHA512: HashFunction {
    public static let standInName = "SHA512"
    public static func digest(_ message: [UInt8]) -> SHA512Digest { SHA512Digest(value: standIn(standInName, message, 64)) }
}
public enum Insecure: Sendable {
    public struct SHA1Digest: Digest {
        let value: [UInt8]
        public static var byteCount: Int { 20 }
        public func makeIterator() -> Array<UInt8>.Iterator { value.makeIterator() }
        public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
            try value.withUnsafeBytes(body)
        }
    }
    public struct SHA1: HashFunction {
        public static let standInName = "SHA1"
        public static func digest(_ message: [UInt8]) -> SHA1Digest {
            SHA1Digest(value: standIn(standInName, message, 20))
        }
    }
}
private func standIn(_ name: String, _ message: [UInt8], _ size: Int) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: size)
    precondition(standin_digest(name, message, message.count, &digest) == 1)
    return digest
}

// MARK: Keys, HMAC, HKDF

public struct SymmetricKeySize: Sendable {
    public let bitCount: Int
    public init(bitCount: Int) { self.bitCount = bitCount }
    public static var bits256: SymmetricKeySize { .init(bitCount: 256) }
}
public struct SymmetricKey: ContiguousBytes, Sendable, Equatable {
    let value: [UInt8]
    public init<D: ContiguousBytes>(data: D) { value = bytes(data) }
    public init(size: SymmetricKeySize) { value = (0..<size.bitCount / 8).map { _ in .random(in: 0...255) } }
    public var bitCount: Int { value.count * 8 }
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try value.withUnsafeBytes(body)
    }
}
public struct HMAC<H: HashFunction>: Sendable {
    public struct MAC: Sequence, Hashable, Sendable, ContiguousBytes {
        let value: [UInt8]
        public func makeIterator() -> Array<UInt8>.Iterator { value.makeIterator() }
        public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
            try value.withUnsafeBytes(body)
        }
    }
    public static func authenticationCode<D: DataProtocol>(for data: D, using key: SymmetricKey) -> MAC {
        let message = Array(data)
        var tag = [UInt8](repeating: 0, count: H.Digest.byteCount)
        precondition(standin_hmac(H.standInName, key.value, key.value.count, message, message.count, &tag) == 1)
        return MAC(value: tag)
    }
}
public enum HKDF<H: HashFunction>: Sendable {
    public static func deriveKey<Salt: DataProtocol, Info: DataProtocol>(
        inputKeyMaterial: SymmetricKey, salt: Salt, info: Info, outputByteCount: Int
    ) -> SymmetricKey {
        // RFC 5869. An absent salt is as many zeros as the hash has.
        let salt = salt.isEmpty ? [UInt8](repeating: 0, count: 32) : Array(salt)
        let extracted = HMAC<H>.authenticationCode(for: inputKeyMaterial.value, using: SymmetricKey(data: salt))
        let key = SymmetricKey(data: extracted)
        var (output, block, counter) = ([UInt8](), [UInt8](), UInt8(1))
        while output.count < outputByteCount {
            block = Array(HMAC<H>.authenticationCode(for: block + Array(info) + [counter], using: key))
            output += block
            counter &+= 1
        }
        return SymmetricKey(data: Array(output.prefix(outputByteCount)))
    }
}

// MARK: AES-GCM

public enum AES: Sendable {
    public enum GCM: Sendable {
        public struct Nonce: Sendable, ContiguousBytes, Sequence {
            let value: [UInt8]
            public init() { value = (0..<12).map { _ in .random(in: 0...255) } }
            public init<D: DataProtocol>(data: D) throws {
                guard data.count >= 12 else { throw CryptoKitError.incorrectParameterSize }
                value = Array(data)
            }
            public func makeIterator() -> Array<UInt8>.Iterator { value.makeIterator() }
            public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
                try value.withUnsafeBytes(body)
            }
        }
        public struct SealedBox: Sendable {
            public let nonce: Nonce
            public let ciphertext: Data
            public let tag: Data
            public var combined: Data? {
                nonce.value.count == 12 ? Data(nonce.value) + ciphertext + tag : nil
            }
            public init<D: DataProtocol>(combined: D) throws {
                guard combined.count >= 28 else { throw CryptoKitError.incorrectParameterSize }
                let all = Data(combined)
                // Slices, as the system gives them: whoever counts from 0 is wrong.
                try self.init(nonce: Nonce(data: all.prefix(12)), ciphertext: all[12..<all.count - 16], tag: all.suffix(16))
            }
            public init<C: DataProtocol, T: DataProtocol>(nonce: Nonce, ciphertext: C, tag: T) throws {
                guard tag.count == 16 else { throw CryptoKitError.incorrectParameterSize }
                let all = Data(nonce.value) + Data(ciphertext) + Data(tag)
                self.nonce = nonce
                self.ciphertext = all[nonce.value.count..<all.count - 16]
                self.tag = all.suffix(16)
            }
        }
        public static func seal<P: DataProtocol, A: DataProtocol>(
            _ message: P, using key: SymmetricKey, nonce: Nonce? = nil, authenticating authenticatedData: A
        ) throws -> SealedBox {
            guard key.bitCount == 256 else { throw CryptoKitError.incorrectKeySize }
            let (nonce, text, aad) = (nonce ?? Nonce(), Array(message), Array(authenticatedData))
            var output = [UInt8](repeating: 0, count: text.count)
            var tag = [UInt8](repeating: 0, count: 16)
            try checked(
                standin_gcm_seal(
                    key.value, nonce.value, nonce.value.count, aad, aad.count, text, text.count, &output, &tag))
            return try SealedBox(nonce: nonce, ciphertext: output, tag: tag)
        }
        public static func open<A: DataProtocol>(
            _ sealedBox: SealedBox, using key: SymmetricKey, authenticating authenticatedData: A
        ) throws -> Data {
            guard key.bitCount == 256 else { throw CryptoKitError.incorrectKeySize }
            let (box, aad, nonce) = (Array(sealedBox.ciphertext), Array(authenticatedData), sealedBox.nonce.value)
            var output = [UInt8](repeating: 0, count: box.count)
            guard
                standin_gcm_open(
                    key.value, nonce, nonce.count, aad, aad.count, box, box.count, Array(sealedBox.tag), &output) == 1
            else { throw CryptoKitError.authenticationFailure }
            return Data(output)
        }
    }
}
