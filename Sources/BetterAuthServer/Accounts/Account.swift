package import BetterAuthMessages
internal import Cryptography

/// What the server knows of one identity: the one row that every operation on it reads and replaces.
///
/// A deleted account stays, without devices and recovery hash, so that its identity can never be made again.
package struct Account: Sendable, Hashable {
    /// Devices that can act at one time.
    package static let maximumDevices = 32
    /// Devices that there ever were. Recovery goes beyond it, linking does not.
    package static let maximumDevicesEver = 2000
    /// The same with recoveries, which nobody needs so often: a row does not grow without end.
    package static let maximumDevicesRecovered = 4000
    /// Replies kept for devices that are gone.
    static let maximumDepartedReplies = 4

    /// One device of the account.
    package struct Device: Sendable, Hashable {
        package let id: DeviceID
        /// The key that opens sessions.
        package var publicKey: PublicKeyText
        /// Commits to the key that the next operation reveals.
        package var rotationHash: RotationHash
        /// The answer to its last operation.
        package var reply: CommittedReply?
        /// Access tokens of this device that were issued before this are void.
        package var voidBefore: Timestamp

        package init(
            id: DeviceID, publicKey: PublicKeyText, rotationHash: RotationHash, reply: CommittedReply? = nil,
            voidBefore: Timestamp = .never
        ) {
            self.voidBefore = voidBefore
            self.id = id
            self.publicKey = publicKey
            self.rotationHash = rotationHash
            self.reply = reply
        }
    }

    /// Commits to the recovery key; nil once the account is deleted.
    package var recoveryHash: RecoveryHash?
    /// Access tokens that were issued before this are void, of every device that is there: earlier programs wrote it,
    /// and the next change moves it to the devices.
    package var voidBefore: Timestamp
    package var devices: [Device]
    /// Devices that were revoked, by a peer or a recovery. None of them is ever registered again.
    package var former: [DeviceID]
    /// Answers to the last operations of devices that are gone.
    package var departedReplies: [CommittedReply]
    /// Whether the operator has locked it: its devices are honoured by nothing, and recovery is refused.
    package var isLocked: Bool

    package init(
        recoveryHash: RecoveryHash?, voidBefore: Timestamp = .never, devices: [Device], former: [DeviceID] = [],
        departedReplies: [CommittedReply] = [], isLocked: Bool = false
    ) {
        self.recoveryHash = recoveryHash
        self.voidBefore = voidBefore
        self.devices = devices
        self.former = former
        self.departedReplies = departedReplies
        self.isLocked = isLocked
    }

    package var isDeleted: Bool { recoveryHash == nil }

    /// Whether its devices can do anything.
    package var isActive: Bool { !isDeleted && !isLocked }

    /// The device, unless it is unknown or revoked.
    package func device(_ id: DeviceID) -> Device? { devices.first { $0.id == id } }

    /// Whether a token of this device that was issued at `issuedAt` still counts.
    package func honours(_ device: DeviceID, issuedAt: Timestamp) -> Bool {
        guard isActive, let device = self.device(device) else { return false }
        return issuedAt >= mark(of: device)
    }

    /// The moment before which tokens of a device are void.
    package func mark(of device: Device) -> Timestamp { max(voidBefore, device.voidBefore) }

    /// Until when devices are kept out of sessions that open now, by a mark that a clock has made which was ahead; nil
    /// when none is.
    package func markedUntil(now: Timestamp) -> Timestamp? {
        devices.map { mark(of: $0) }.max().flatMap {
            $0.isAhead(of: now) ? $0 : nil
        }
    }

    /// The reply to an operation that was committed, for as long as it is kept.
    package func reply(to operation: OperationKey, now: Timestamp) -> CommittedReply? {
        let replies = devices.lazy.compactMap(\.reply)
        let found = replies.first { $0.operation == operation } ?? departedReplies.first { $0.operation == operation }
        return found.flatMap { now <= $0.until ? $0 : nil }
    }
}

/// What is needed to say the same thing again to a device that repeats an operation byte by byte.
///
/// The rest of a reply follows from the request. An operation is known by the digest of its whole body, signature
/// included: someone who did not see that exact request cannot ask for its reply.
package struct CommittedReply: Sendable, Hashable {
    package let operation: OperationKey
    package let serverIdentity: PublicKeyText
    package let signature: SignatureText
    /// The last moment at which it is repeated.
    package let until: Timestamp

    package init(
        operation: OperationKey, serverIdentity: PublicKeyText, signature: SignatureText, until: Timestamp
    ) {
        self.operation = operation
        self.serverIdentity = serverIdentity
        self.signature = signature
        self.until = until
    }
}

/// Names one operation: the digest of its path and its whole body, signature included (constructions.md 10.3).
package struct OperationKey: DigestIdentifier, CESRValue {
    package let digest: DigestText
    package init(_ digest: DigestText) { self.digest = digest }

    package init(path: String, body: [UInt8]) { unsafe self.init(path: path, body: body.span.bytes) }

    package init(path: String, body: RawSpan) {
        var text = Array(path.utf8)
        unsafe body.withUnsafeBytes { unsafe text.append(contentsOf: $0) }
        // Paths begin with a slash and bodies with a brace, so the joint is where it seems to be.
        digest = unsafe Derivations.blake3(text.span.bytes)
    }
}

extension Derivations {
    /// With BLAKE3-256, the only hash of the suite.
    package static let server = Derivations(hash: blake3)

    static func blake3(_ bytes: RawSpan) -> DigestText {
        let digest = BLAKE3.hash(bytes)
        return DigestText { target in
            digest.withBytes { source in
                unsafe target.withUnsafeMutableBytes { target in
                    unsafe source.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
                }
            }
        }
    }
}
