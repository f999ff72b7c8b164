/// What stands in `request.authentication`.
package protocol AuthenticationPart: Sendable, Hashable {
    /// Reads the object from its opening to its closing brace.
    init(reading reader: inout MessageReader) throws(MessageError)
    /// Writes the object.
    func write(to writer: inout MessageWriter)
}

/// A device reveals the key it had committed to, and commits to the one after it (protocol.md 5.1).
package struct RotationAuthentication: AuthenticationPart {
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

    package init(reading reader: inout MessageReader) throws(MessageError) {
        try self.init(reading: &reader, AuthenticationShapes.rotation)
    }

    init(reading reader: inout MessageReader, _ shape: ObjectShape) throws(MessageError) {
        var object = try reader.open(shape)
        device = try reader.read(DeviceID.self, &object)
        identity = try reader.read(IdentityID.self, &object)
        publicKey = try reader.read(PublicKeyText.self, &object)
        rotationHash = try reader.read(RotationHash.self, &object)
        try reader.close(object)
    }

    package func write(to writer: inout MessageWriter) {
        writer.literal(#"{"device":"#)
        writer.quoted(device)
        writer.literal(#","identity":"#)
        writer.quoted(identity)
        writer.literal(#","publicKey":"#)
        writer.quoted(publicKey)
        writer.literal(#","rotationHash":"#)
        writer.quoted(rotationHash)
        writer.literal("}")
    }
}

/// A device's keys with the recovery hash of its account: a new account, or a new recovery key for an old one.
package struct AccountAuthentication: AuthenticationPart {
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

    package init(reading reader: inout MessageReader) throws(MessageError) {
        var object = try reader.open(AuthenticationShapes.account)
        device = try reader.read(DeviceID.self, &object)
        identity = try reader.read(IdentityID.self, &object)
        publicKey = try reader.read(PublicKeyText.self, &object)
        recoveryHash = try reader.read(RecoveryHash.self, &object)
        rotationHash = try reader.read(RotationHash.self, &object)
        try reader.close(object)
    }

    package func write(to writer: inout MessageWriter) {
        writer.literal(#"{"device":"#)
        writer.quoted(device)
        writer.literal(#","identity":"#)
        writer.quoted(identity)
        writer.literal(#","publicKey":"#)
        writer.quoted(publicKey)
        writer.literal(#","recoveryHash":"#)
        writer.quoted(recoveryHash)
        writer.literal(#","rotationHash":"#)
        writer.quoted(rotationHash)
        writer.literal("}")
    }
}

/// A new device for an old account, vouched for by the recovery key.
package struct RecoveryAuthentication: AuthenticationPart {
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

    package init(reading reader: inout MessageReader) throws(MessageError) {
        var object = try reader.open(AuthenticationShapes.recovery)
        device = try reader.read(DeviceID.self, &object)
        identity = try reader.read(IdentityID.self, &object)
        publicKey = try reader.read(PublicKeyText.self, &object)
        recoveryHash = try reader.read(RecoveryHash.self, &object)
        recoveryKey = try reader.read(PublicKeyText.self, &object)
        rotationHash = try reader.read(RotationHash.self, &object)
        try reader.close(object)
    }

    package func write(to writer: inout MessageWriter) {
        writer.literal(#"{"device":"#)
        writer.quoted(device)
        writer.literal(#","identity":"#)
        writer.quoted(identity)
        writer.literal(#","publicKey":"#)
        writer.quoted(publicKey)
        writer.literal(#","recoveryHash":"#)
        writer.quoted(recoveryHash)
        writer.literal(#","recoveryKey":"#)
        writer.quoted(recoveryKey)
        writer.literal(#","rotationHash":"#)
        writer.quoted(rotationHash)
        writer.literal("}")
    }
}

enum AuthenticationShapes {
    static let place: StaticString = "payload.request.authentication"
    static let rotation = ObjectShape(place, ["device", "identity", "publicKey", "rotationHash"])
    static let account = ObjectShape(place, ["device", "identity", "publicKey", "recoveryHash", "rotationHash"])
    static let recovery = ObjectShape(
        place, ["device", "identity", "publicKey", "recoveryHash", "recoveryKey", "rotationHash"])
}
