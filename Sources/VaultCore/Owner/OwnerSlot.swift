internal import SecretMemory
internal import Synchronization
internal import VaultFormat
internal import VaultHeader

/// A way in for a confirmed owner (constructions.md 6.1): the master key under two shares, of which a key store has one
/// and the keeper of this process the other. It exists in memory only, unless its owner wants it on the disk.
struct OwnerSlot: Sendable {
    /// Where it comes from.
    enum Origin: Sendable, Hashable {
        /// Made when the passcode was right, at this instant, beside a passcode's slot with this salt: another
        /// passcode, or other rules, end it.
        case passcode(BootInstant, salt: [UInt8])
        /// Read from the header.
        case disk
    }

    /// As a slot of the header is.
    let slot: Slot
    /// Where the first share rests.
    let item: ShareItem
    let origin: Origin
    /// SHA-256 of the first share, where it rests under a name that every process with this home uses; nil otherwise.
    let shareDigest: [UInt8]?

    /// Milliseconds after which the passcode is asked again, whatever the rules say: three days.
    static let longestAge: UInt64 = 72 * 3600 * 1000

    /// Milliseconds since the passcode; nil where the clock cannot tell or they are too many.
    func age(at now: BootInstant) -> UInt64? {
        guard case .passcode(let since, _) = origin else { return nil }
        guard now.bootID == since.bootID, now.milliseconds >= since.milliseconds else { return nil }
        let age = now.milliseconds - since.milliseconds
        return age < OwnerSlot.longestAge ? age : nil
    }

    /// Whether it can still be used as far as time goes.
    func isTimely(at now: BootInstant) -> Bool { origin == .disk || age(at: now) != nil }

    /// Whether the header is still the one that it belongs to.
    func belongs(to header: Header) -> Bool {
        switch origin {
        case .passcode(_, let salt): header.passcodeSlot?.salt == salt
        case .disk: header.slots.contains(slot)
        }
    }
}

/// The one slot of a vault, if there is one.
final class OwnerSlotPlace: Sendable {
    private let slot = Mutex<OwnerSlot?>(nil)

    var current: OwnerSlot? { slot.withLock { $0 } }

    /// - Returns: What was there.
    @discardableResult
    func set(_ new: OwnerSlot?) -> OwnerSlot? {
        slot.withLock { slot in
            defer { slot = new }
            return slot
        }
    }
}
