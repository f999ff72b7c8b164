internal import SecretMemory
internal import Synchronization
package import VaultFormat

/// A way in for a confirmed owner (constructions.md 6.1): the master key under two shares, of which a key store has one
/// and the keeper of this process the other. It exists in memory only, unless its owner wants it on the disk.
package struct OwnerSlot: Sendable {
    /// Where it comes from.
    package enum Origin: Sendable, Hashable {
        /// Made when the passcode was right, at this instant, beside a passcode's slot with this salt: another
        /// passcode, or other rules, end it.
        case passcode(BootInstant, salt: [UInt8])
        /// Read from the header.
        case disk
    }

    /// As a slot of the header is.
    package let slot: Slot
    /// Where the first share rests.
    package let item: ShareItem
    package let origin: Origin
    /// SHA-256 of the first share, where it rests under a name that every process with this home uses; nil otherwise.
    package let shareDigest: [UInt8]?

    package init(slot: Slot, item: ShareItem, origin: Origin, shareDigest: [UInt8]? = nil) {
        self.slot = slot
        self.item = item
        self.origin = origin
        self.shareDigest = shareDigest
    }

    /// Milliseconds after which the passcode is asked again, whatever the rules say: three days.
    static let longestAge: UInt64 = 72 * 3600 * 1000

    /// Milliseconds since the passcode; nil where the clock cannot tell or they are too many.
    package func age(at now: BootInstant) -> UInt64? {
        guard case .passcode(let since, _) = origin else { return nil }
        guard now.bootID == since.bootID, now.milliseconds >= since.milliseconds else { return nil }
        let age = now.milliseconds - since.milliseconds
        return age < OwnerSlot.longestAge ? age : nil
    }

    /// Whether it can still be used as far as time goes.
    package func isTimely(at now: BootInstant) -> Bool { origin == .disk || age(at: now) != nil }

    /// Whether the header is still the one that it belongs to.
    package func belongs(to header: Header) -> Bool {
        switch origin {
        case .passcode(_, let salt): header.passcodeSlot?.salt == salt
        case .disk: header.slots.contains(slot)
        }
    }
}

/// The one slot of a vault, if there is one.
package final class OwnerSlotPlace: Sendable {
    private let slot = Mutex<OwnerSlot?>(nil)

    package init() {}

    package var current: OwnerSlot? { slot.withLock { $0 } }

    /// - Returns: What was there.
    @discardableResult
    package func set(_ new: OwnerSlot?) -> OwnerSlot? {
        slot.withLock { slot in
            defer { slot = new }
            return slot
        }
    }
}
