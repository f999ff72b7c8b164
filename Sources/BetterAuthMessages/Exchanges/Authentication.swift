/// A device reveals the key it had committed to, and commits to the one after it (protocol.md 5.1).
package struct RotationAuthentication: MemberValue {
    package let device: DeviceID
    package let identity: IdentityID
    /// The key that signs.
    package let publicKey: PublicKeyText
    package let rotationHash: RotationHash

    package init(device: DeviceID, identity: IdentityID, publicKey: PublicKeyText, rotationHash: RotationHash) {
        self.device = device
        self.identity = identity
        self.publicKey = publicKey
        self.rotationHash = rotationHash
    }

    package init(reading reader: inout MessageReader, _ object: inout ObjectProgress) throws(MessageError) {
        try self.init(reading: &reader, &object, AuthenticationShapes.rotation)
    }

    init(
        reading reader: inout MessageReader, _ object: inout ObjectProgress, _ shape: ObjectShape
    ) throws(MessageError) {
        (device, identity, publicKey, rotationHash) = try reader.object(shape, in: &object)
    }

    package func write(to writer: inout MessageWriter) {
        writer.object(AuthenticationShapes.rotation, device, identity, publicKey, rotationHash)
    }
}

/// A device's keys with the recovery hash of its account: a new account, or a new recovery key for an old one.
package struct AccountAuthentication: MemberValue {
    package let device: DeviceID
    package let identity: IdentityID
    /// The key that signs.
    package let publicKey: PublicKeyText
    package let recoveryHash: RecoveryHash
    package let rotationHash: RotationHash

    package init(
        device: DeviceID, identity: IdentityID, publicKey: PublicKeyText, recoveryHash: RecoveryHash,
        rotationHash: RotationHash
    ) {
        self.device = device
        self.identity = identity
        self.publicKey = publicKey
        self.recoveryHash = recoveryHash
        self.rotationHash = rotationHash
    }

    package init(reading reader: inout MessageReader, _ object: inout ObjectProgress) throws(MessageError) {
        (device, identity, publicKey, recoveryHash, rotationHash) = try reader.object(
            AuthenticationShapes.account, in: &object)
    }

    package func write(to writer: inout MessageWriter) {
        writer.object(AuthenticationShapes.account, device, identity, publicKey, recoveryHash, rotationHash)
    }
}

/// A new device for an old account, vouched for by the recovery key.
package struct RecoveryAuthentication: MemberValue {
    package let device: DeviceID
    package let identity: IdentityID
    package let publicKey: PublicKeyText
    /// Commits to the recovery key that follows this one.
    package let recoveryHash: RecoveryHash
    /// The key that signs.
    package let recoveryKey: PublicKeyText
    package let rotationHash: RotationHash

    package init(
        device: DeviceID, identity: IdentityID, publicKey: PublicKeyText, recoveryHash: RecoveryHash,
        recoveryKey: PublicKeyText, rotationHash: RotationHash
    ) {
        self.device = device
        self.identity = identity
        self.publicKey = publicKey
        self.recoveryHash = recoveryHash
        self.recoveryKey = recoveryKey
        self.rotationHash = rotationHash
    }

    package init(reading reader: inout MessageReader, _ object: inout ObjectProgress) throws(MessageError) {
        (device, identity, publicKey, recoveryHash, recoveryKey, rotationHash) = try reader.object(
            AuthenticationShapes.recovery, in: &object)
    }

    package func write(to writer: inout MessageWriter) {
        writer.object(
            AuthenticationShapes.recovery, device, identity, publicKey, recoveryHash, recoveryKey, rotationHash)
    }
}

enum AuthenticationShapes {
    static let place: StaticString = "payload.request.authentication"
    static let rotation = ObjectShape(place, ["device", "identity", "publicKey", "rotationHash"])
    static let account = ObjectShape(place, ["device", "identity", "publicKey", "recoveryHash", "rotationHash"])
    static let recovery = ObjectShape(
        place, ["device", "identity", "publicKey", "recoveryHash", "recoveryKey", "rotationHash"])
}
