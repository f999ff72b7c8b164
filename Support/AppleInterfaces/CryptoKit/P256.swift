import AppleScripting
import CStandInCrypto
import LocalAuthentication
import Security

func point(_ scalar: [UInt8]) throws -> [UInt8] {
    var point = [UInt8](repeating: 0, count: 65)
    guard scalar.count == 32 else { throw CryptoKitError.incorrectParameterSize }
    guard standin_p256_public(scalar, &point) == 1 else { throw CryptoKitError.invalidParameter }
    return point
}

func decompress(_ encoded: [UInt8], size: Int) throws -> [UInt8] {
    var point = [UInt8](repeating: 0, count: 65)
    guard encoded.count == size else { throw CryptoKitError.incorrectParameterSize }
    guard standin_p256_decompress(encoded, encoded.count, &point) == 1 else { throw CryptoKitError.invalidParameter }
    return point
}

func randomScalar() -> [UInt8] {
    var scalar = [UInt8](repeating: 0, count: 32)
    precondition(standin_p256_generate(&scalar) == 1)
    return scalar
}

func sign(_ message: [UInt8], _ scalar: [UInt8]) throws -> Data {
    var signature = [UInt8](repeating: 0, count: 64)
    try checked(standin_p256_sign(scalar, bytes(SHA256.digest(message)), &signature))
    return Data(signature)
}

public enum P256: Sendable {
    public enum Signing: Sendable {
        public struct ECDSASignature: Sendable, ContiguousBytes {
            public let rawRepresentation: Data
            public init<D: DataProtocol>(rawRepresentation: D) throws {
                guard rawRepresentation.count == 64 else { throw CryptoKitError.incorrectParameterSize }
                self.rawRepresentation = Data(rawRepresentation)
            }
            public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
                try rawRepresentation.withUnsafeBytes(body)
            }
        }
        public struct PublicKey: Sendable {
            let point: [UInt8]
            init(point: [UInt8]) { self.point = point }
            public init<D: ContiguousBytes>(compressedRepresentation: D) throws {
                point = try decompress(bytes(compressedRepresentation), size: 33)
            }
            public init<D: ContiguousBytes>(x963Representation: D) throws {
                point = try decompress(bytes(x963Representation), size: 65)
            }
            public var compressedRepresentation: Data { Data([2 | point[64] & 1] + point[1...32]) }
            public var x963Representation: Data { Data(point) }
            public var rawRepresentation: Data { Data(point.dropFirst()) }
            public func isValidSignature<D: DataProtocol>(_ signature: ECDSASignature, for data: D) -> Bool {
                standin_p256_verify(point, bytes(SHA256.digest(Array(data))), Array(signature.rawRepresentation)) == 1
            }
        }
        public struct PrivateKey: Sendable {
            let scalar: [UInt8]
            public let publicKey: PublicKey
            public init(compactRepresentable: Bool = true) {
                scalar = randomScalar()
                publicKey = PublicKey(point: (try? point(scalar)) ?? [])
            }
            public init<D: ContiguousBytes>(rawRepresentation: D) throws {
                scalar = bytes(rawRepresentation)
                publicKey = PublicKey(point: try point(scalar))
            }
            public var rawRepresentation: Data { Data(scalar) }
            public func signature<D: DataProtocol>(for data: D) throws -> ECDSASignature {
                try ECDSASignature(rawRepresentation: sign(Array(data), scalar))
            }
        }
    }
    public enum KeyAgreement: Sendable {
        public struct PublicKey: Sendable {
            let point: [UInt8]
            public init<D: ContiguousBytes>(compressedRepresentation: D) throws {
                point = try decompress(bytes(compressedRepresentation), size: 33)
            }
            init(point: [UInt8]) { self.point = point }
            public var compressedRepresentation: Data { Data([2 | point[64] & 1] + point[1...32]) }
        }
        public struct PrivateKey: Sendable {
            let scalar: [UInt8]
            public init<D: ContiguousBytes>(rawRepresentation: D) throws {
                scalar = bytes(rawRepresentation)
                _ = try point(scalar)
            }
            public func sharedSecretFromKeyAgreement(with publicKeyShare: PublicKey) throws -> SharedSecret {
                var shared = [UInt8](repeating: 0, count: 32)
                try checked(standin_p256_agree(scalar, publicKeyShare.point, &shared))
                return SharedSecret(value: shared)
            }
        }
    }
}

public struct SharedSecret: ContiguousBytes, Sendable {
    let value: [UInt8]
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try value.withUnsafeBytes(body)
    }
}

/// The scripted device's Enclave: keys are real, their scalars rest in the device, and who may sign is decided as the
/// Enclave would, by the access control and the context.
public enum SecureEnclave: Sendable {
    public static var isAvailable: Bool { ScriptedDevice.current.with(\.hasSecureEnclave) }
    public enum P256: Sendable {
        public enum Signing: Sendable {
            /// Not `Sendable` here: it holds a context, and we do not rely on more.
            public struct PrivateKey {
                public let dataRepresentation: Data
                public let publicKey: CryptoKit.P256.Signing.PublicKey
                private let context: LAContext?

                public init(
                    compactRepresentable: Bool = true, accessControl: SecAccessControl,
                    authenticationContext: LAContext? = nil
                ) throws {
                    guard SecureEnclave.isAvailable else { throw CryptoKitError.underlyingCoreCryptoError(error: -3) }
                    precondition(accessControl.flags.contains(.privateKeyUsage), "the key could never be used")
                    let password = authenticationContext?.applicationPassword
                    if accessControl.flags.contains(.applicationPassword), password == nil {
                        throw NSError(domain: LAErrorDomain, code: LAError.Code.authenticationFailed.rawValue)
                    }
                    let scalar = randomScalar()
                    dataRepresentation = ScriptedDevice.current.keep(
                        .init(scalar: scalar, flags: UInt(accessControl.flags.rawValue), password: password))
                    publicKey = .init(point: try point(scalar))
                    context = authenticationContext
                }

                public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
                    guard SecureEnclave.isAvailable else { throw CryptoKitError.underlyingCoreCryptoError(error: -3) }
                    guard let kept = ScriptedDevice.current.enclaveKey(dataRepresentation) else {
                        throw CryptoKitError.underlyingCoreCryptoError(error: -50)
                    }
                    self.dataRepresentation = dataRepresentation
                    publicKey = .init(point: try point(kept.scalar))
                    context = authenticationContext
                }

                public func signature<D: DataProtocol>(for data: D) throws -> CryptoKit.P256.Signing.ECDSASignature {
                    guard let kept = ScriptedDevice.current.enclaveKey(dataRepresentation) else {
                        throw CryptoKitError.underlyingCoreCryptoError(error: -50)
                    }
                    let flags = SecAccessControlCreateFlags(rawValue: kept.flags)
                    if flags.contains(.applicationPassword), context?.applicationPassword != kept.password {
                        throw NSError(domain: LAErrorDomain, code: LAError.Code.authenticationFailed.rawValue)
                    }
                    if !ScriptedDevice.current.with(\.protectedDataAvailable) {
                        throw NSError(domain: LAErrorDomain, code: LAError.Code.notInteractive.rawValue)
                    }
                    return try .init(rawRepresentation: sign(Array(data), kept.scalar))
                }
            }
        }
        public enum KeyAgreement: Sendable {
            /// Not `Sendable` here, as the signing key.
            public struct PrivateKey {
                public let dataRepresentation: Data
                public let publicKey: CryptoKit.P256.KeyAgreement.PublicKey
                private let context: LAContext?

                public init(
                    compactRepresentable: Bool = true, accessControl: SecAccessControl,
                    authenticationContext: LAContext? = nil
                ) throws {
                    if let status = ScriptedDevice.current.with({ ScriptedDevice.noteCall("makeAgreementKey", &$0) }) {
                        throw NSError(domain: NSOSStatusErrorDomain, code: Int(status))
                    }
                    guard SecureEnclave.isAvailable else { throw CryptoKitError.underlyingCoreCryptoError(error: -3) }
                    precondition(accessControl.flags.contains(.privateKeyUsage), "the key could never be used")
                    let scalar = randomScalar()
                    dataRepresentation = ScriptedDevice.current.keep(
                        .init(
                            scalar: scalar, flags: UInt(accessControl.flags.rawValue), password: nil,
                            protection: accessControl.protection as String,
                            enrollment: ScriptedDevice.current.with(\.enrollment)))
                    publicKey = .init(point: try point(scalar))
                    context = authenticationContext
                }

                public init(dataRepresentation: Data, authenticationContext: LAContext? = nil) throws {
                    guard SecureEnclave.isAvailable else { throw CryptoKitError.underlyingCoreCryptoError(error: -3) }
                    guard let kept = ScriptedDevice.current.enclaveKey(dataRepresentation) else {
                        throw CryptoKitError.underlyingCoreCryptoError(error: -50)
                    }
                    self.dataRepresentation = dataRepresentation
                    publicKey = .init(point: try point(kept.scalar))
                    context = authenticationContext
                }

                public func sharedSecretFromKeyAgreement(
                    with publicKeyShare: CryptoKit.P256.KeyAgreement.PublicKey
                ) throws -> SharedSecret {
                    guard let kept = ScriptedDevice.current.enclaveKey(dataRepresentation) else {
                        throw CryptoKitError.underlyingCoreCryptoError(error: -50)
                    }
                    let device = ScriptedDevice.current
                    if !device.with(\.protectedDataAvailable), kept.protection != "cku" {
                        throw NSError(domain: LAErrorDomain, code: LAError.Code.notInteractive.rawValue)
                    }
                    let flags = SecAccessControlCreateFlags(rawValue: kept.flags)
                    let passcode = !flags.isDisjoint(with: [.userPresence, .devicePasscode])
                    let isStale = flags.contains(.biometryCurrentSet) && kept.enrollment != device.with(\.enrollment)
                    let biometrics =
                        !isStale
                        && !flags.isDisjoint(with: [.userPresence, .biometryAny, .biometryCurrentSet])
                    if !flags.isDisjoint(with: [.userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode]) {
                        guard let context, context.satisfy(biometrics: biometrics, passcode: passcode) == 0 else {
                            throw NSError(domain: LAErrorDomain, code: LAError.Code.notInteractive.rawValue)
                        }
                    }
                    return try CryptoKit.P256.KeyAgreement.PrivateKey(rawRepresentation: kept.scalar)
                        .sharedSecretFromKeyAgreement(with: publicKeyShare)
                }
            }
        }
    }
}
