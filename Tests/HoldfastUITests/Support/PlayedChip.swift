import Holdfast
import KeyStores
import Synchronization
import TestSupport

/// A chip that counts, as a test wants it. The real one, in software: ``OwnerPartsTests``.
final class PlayedChip: AttemptTier {
    private struct Object {
        let authorisation: [UInt8], share: [UInt8], limit: Int
        var failures = 0
    }

    private struct State {
        var objects: [[UInt8]: Object] = [:]
        var next: UInt8 = 1
        var isAbsent = false
    }

    private let state = Mutex(State())
    let assurance = Assurance.hardwareLimited

    var objectCount: Int { state.withLock { $0.objects.count } }
    func unplug(_ isAbsent: Bool) { state.withLock { $0.isAbsent = isAbsent } }

    func makeShare(
        authorisation: borrowing SecretBytes, limit: Int, for owner: HardwareOwner,
        note: (HardwareObject) throws(KeyStoreError) -> Void
    ) throws(KeyStoreError) -> HardwareShare {
        let authorisation = authorisation.withBytes(bytes)
        let number = try state.withLock { state throws(KeyStoreError) in
            if state.isAbsent { throw KeyStoreError(.unavailable, "the chip is absent") }
            state.next += 1
            return state.next
        }
        let object = HardwareObject(name: [number], data: [1, 2, 3])
        try note(object)
        let share = [UInt8](repeating: number, count: 32)
        state.withLock { $0.objects[[number]] = Object(authorisation: authorisation, share: share, limit: limit) }
        return HardwareShare(share: try PlayedChip.secret(share), object: object)
    }

    func redeem(
        _ object: HardwareObject, of vault: VaultID, authorisation: borrowing SecretBytes
    ) throws(KeyStoreError) -> Redemption {
        let authorisation = authorisation.withBytes(bytes)
        let answer: (share: [UInt8]?, left: Int)? = try state.withLock { state throws(KeyStoreError) in
            if state.isAbsent { throw KeyStoreError(.unavailable, "the chip is absent") }
            guard var found = state.objects[object.name], found.failures < found.limit else { return nil }
            let isRight = found.authorisation == authorisation
            found.failures = isRight ? 0 : found.failures + 1
            state.objects[object.name] = found
            return (isRight ? found.share : nil, found.limit - found.failures)
        }
        guard let answer else { return .destroyed }
        guard let share = answer.share else { return .wrongSecret(remaining: answer.left) }
        return .share(try PlayedChip.secret(share))
    }

    func destroy(_ object: HardwareObject, of owner: HardwareOwner) throws(KeyStoreError) -> Removal {
        state.withLock { $0.objects[object.name] = nil }
        return .gone
    }

    private static func secret(_ bytes: [UInt8]) throws(KeyStoreError) -> SecretBytes {
        do throws(SecretMemoryError) { return unsafe try SecretBytes(copying: bytes.span.bytes) } catch {
            throw KeyStoreError(.outOfMemory, "no memory")
        }
    }
}
