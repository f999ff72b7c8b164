internal import SecretMemory
internal import Synchronization
internal import VaultFormat

/// The tag of the last secret known to be wrong, so that typing it again costs no attempt (constructions.md 2.5). In
/// locked memory only, whatever the header says: nothing that a tried secret could be searched by goes to the disk.
final class WrongTag: Sendable {
    /// The tag, and the slot that refused it: another header's slot may have refused what is right for this one.
    private struct Known: ~Copyable, Sendable {
        let tag: SecretBytes
        let slot: Slot
    }

    private let known = Mutex<Known?>(nil)

    func matches(_ other: borrowing SecretBytes, of slot: Slot) -> Bool {
        known.withLock { known in
            switch known {
            case .some(let known): known.slot == slot && other.withBytes { known.tag.isEqual(to: $0) }
            case nil: false
            }
        }
    }

    /// One that cannot be kept is not kept: the secret then counts again.
    func set(_ tag: borrowing SecretBytes, of slot: Slot) {
        known.withLock { known in
            known = nil
            if let tag = try? tag.copy() { known = Known(tag: tag, slot: slot) }
        }
    }

    func forget() { known.withLock { $0 = nil } }
}
