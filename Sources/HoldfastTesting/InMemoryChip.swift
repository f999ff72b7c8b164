package import KeyStores
package import SecretMemory
internal import Synchronization
package import VaultFormat

/// A security chip in memory that counts wrong passcodes and PINs, as a TPM does.
public final class InMemoryChip: Sendable {
    private struct Object {
        let authorisation: [UInt8]
        let share: [UInt8]
        let limit: Int
        var failures = 0
    }

    private struct State {
        var objects: [[UInt8]: Object] = [:]
        var next: UInt64 = 1
        var isAvailable = true
    }

    private let state = Mutex(State())

    /// A chip that is there, with nothing in it.
    public init() {}

    /// How many shares are in the chip.
    public var count: Int { state.withLock { $0.objects.count } }

    /// Makes every later call fail as on a device without the chip, or ends that.
    public func setAvailable(_ isAvailable: Bool) { state.withLock { $0.isAvailable = isAvailable } }

    /// Clears the chip, as a user does in the firmware's settings: its shares are gone.
    package func clear() { state.withLock { $0.objects = [:] } }
}

extension InMemoryChip: AttemptTier {
    package var assurance: Assurance { .hardwareLimited }

    package func makeShare(
        authorisation: borrowing SecretBytes, limit: Int, for owner: HardwareOwner,
        note: (HardwareObject) throws(KeyStoreError) -> Void
    ) throws(KeyStoreError) -> HardwareShare {
        let number = try changed { state in
            state.next += 1
            return state.next
        }
        let name = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
        let object = HardwareObject(name: name, data: [1, 2, 3])
        try note(object)
        let share = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32)
        let made = Object(authorisation: authorisation.copiedBytes, share: share, limit: limit)
        try changed { $0.objects[name] = made }
        return HardwareShare(share: try SecretBytes(stored: share), object: object)
    }

    package func redeem(
        _ object: HardwareObject, of vault: VaultID, authorisation: borrowing SecretBytes
    ) throws(KeyStoreError) -> Redemption {
        let authorisation = authorisation.copiedBytes
        let answer: (share: [UInt8]?, left: Int)? = try changed { state in
            guard var found = state.objects[object.name], found.failures < found.limit else { return nil }
            let isRight = found.authorisation == authorisation
            found.failures = isRight ? 0 : found.failures + 1
            state.objects[object.name] = found
            return (isRight ? found.share : nil, found.limit - found.failures)
        }
        guard let answer else { return .destroyed }
        guard let share = answer.share else { return .wrongSecret(remaining: answer.left) }
        return .share(try SecretBytes(stored: share))
    }

    package func remaining(_ object: HardwareObject, of vault: VaultID) throws(KeyStoreError) -> Int? {
        try changed { state in state.objects[object.name].map { $0.limit - $0.failures } ?? 0 }
    }

    package func destroy(_ object: HardwareObject, of owner: HardwareOwner) throws(KeyStoreError) -> Removal {
        try changed { $0.objects[object.name] = nil }
        return .gone
    }

    private func changed<R>(_ body: (inout State) -> R) throws(KeyStoreError) -> R {
        try state.withLock { state throws(KeyStoreError) in
            guard state.isAvailable else { throw KeyStoreError(.unavailable, "the test made the chip unavailable") }
            return body(&state)
        }
    }
}
