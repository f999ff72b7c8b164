import BetterAuthMessages
import Testing

private struct DerivationVectors: Decodable {
    struct Key: Decodable {
        let privateScalarHex: String
        let publicKey: String
    }
    struct Derived: Decodable {
        let value: String
    }
    struct Farewell: Decodable {
        let futurePublicKey: String
        let single: String
        let double: String
    }
    let keys: [Key]
    let rotationHash: Derived
    let recoveryHash: Derived
    let device: Derived
    let identity: Derived
    let identityWithoutExtra: Derived
    let selfUnlinkRotationHash: Farewell
}

@Suite struct DerivationTests {
    @Test func identifiersOfTheVectors() throws {
        let file = try vectors("derivations", as: DerivationVectors.self)
        let keys = try file.keys.map { try #require(PublicKeyText($0.publicKey)) }
        for (vector, key) in zip(file.keys, keys) {
            #expect(try publicKey(ofScalar: vector.privateScalarHex) == key.rawBytes)
        }
        let rotation = derivations.rotationHash(of: keys[1])
        let recovery = derivations.recoveryHash(of: keys[2])
        #expect(rotation.description == file.rotationHash.value)
        #expect(recovery.description == file.recoveryHash.value)
        let device = derivations.device(keys[0], rotation)
        let identity = derivations.identity(keys[0], rotation, recovery)
        #expect(device.description == file.device.value && device.description == file.identityWithoutExtra.value)
        #expect(identity.description == file.identity.value)
        let future = try #require(PublicKeyText(file.selfUnlinkRotationHash.futurePublicKey))
        #expect(derivations.rotationHash(of: future).description == file.selfUnlinkRotationHash.single)
        #expect(derivations.farewellHash(of: future).description == file.selfUnlinkRotationHash.double)
        let account = AccountAuthentication(
            device: device, identity: identity, publicKey: keys[0], recoveryHash: recovery, rotationHash: rotation)
        #expect(throws: Never.self) { try derivations.check(newAccount: account) }
        let wrong = AccountAuthentication(
            device: DeviceID(identity.digest), identity: identity, publicKey: keys[0], recoveryHash: recovery,
            rotationHash: rotation)
        #expect(throws: ProtocolError.invalidDevice(wrong.device, calculated: device)) {
            try derivations.check(newAccount: wrong)
        }
    }
}
