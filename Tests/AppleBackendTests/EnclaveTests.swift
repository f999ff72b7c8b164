import AppleScripting
import Cryptography
import Foundation
import SecretMemory
import TestSupport
import Testing

@testable import KeyStores

extension AppleBackends {
    @Suite struct Enclave {
        let device = ScriptedDevice.current
        let keys = EnclaveSigningKeys()
        let right = [UInt8](repeating: 7, count: 32)
        init() { device.reset() }

        private func sign(_ message: [UInt8], _ key: SigningKeyObject, _ authorisation: [UInt8]) throws -> [UInt8] {
            let authorisation = try secret(authorisation)
            return try unsafe keys.sign(message.span.bytes, with: key, authorisation: authorisation)
        }

        private func failure(_ body: () throws -> Void) -> KeyStoreError.Code? {
            do {
                try body()
                return nil
            } catch { return (error as? KeyStoreError)?.code }
        }

        @Test func aKeySignsForItsAuthorisationOnly() throws {
            let key = try keys.makeKey(authorisation: secret(right))
            let signature = try sign([1, 2, 3], key, right)
            let point = try unsafe P256PublicKey(compressed: key.publicKey.span.bytes)
            let message: [UInt8] = [1, 2, 3]
            #expect(unsafe point.isValid(signature: signature.span.bytes, for: message.span.bytes))
            #expect(failure { _ = try sign([1], key, [UInt8](repeating: 8, count: 32)) } == .wrongSecret)
            #expect(device.with(\.prompts).isEmpty && device.with(\.liveContexts) == 0)
            try keys.delete(key)
        }

        @Test func theHandleIsNoKey() throws {
            let key = try keys.makeKey(authorisation: secret(right))
            let scalar = try #require(device.enclaveKey(Data(key.data))).scalar
            #expect(!key.data.indices.contains { key.data.dropFirst($0).starts(with: scalar) })
        }

        @Test func aSwappedPublicHalfOrHandleSignsNothing() throws {
            let (one, two) = (
                try keys.makeKey(authorisation: secret(right)), try keys.makeKey(authorisation: secret(right))
            )
            let swapped = SigningKeyObject(publicKey: one.publicKey, data: two.data)
            #expect(failure { _ = try sign([1], swapped, right) } == .damaged)
            let foreign = SigningKeyObject(publicKey: one.publicKey, data: [1, 2, 3])
            #expect(failure { _ = try sign([1], foreign, right) } == .foreign)
            for size in [0, 1025] {
                let odd = SigningKeyObject(publicKey: one.publicKey, data: [UInt8](repeating: 0, count: size))
                #expect(failure { _ = try sign([1], odd, right) } == .damaged)
                #expect(failure { try keys.delete(odd) } == .damaged)
            }
        }

        @Test func aLockedDeviceSignsNothing() throws {
            let key = try keys.makeKey(authorisation: secret(right))
            device.with { $0.protectedDataAvailable = false }
            #expect(failure { _ = try sign([1], key, right) } == .lockedOut)
        }

        @Test func aDeviceWithoutAnEnclaveSaysSo() throws {
            let key = try keys.makeKey(authorisation: secret(right))
            device.with { $0.hasSecureEnclave = false }
            #expect(!EnclaveSigningKeys.isAvailable)
            #expect(failure { _ = try keys.makeKey(authorisation: secret(right)) } == .unavailable)
            #expect(failure { _ = try sign([1], key, right) } == .unavailable)
        }
    }
}
