package import KeyStores
package import VaultFormat
package import VaultHeader
package import VaultStorage

/// What chips and key stores hold for a vault that is destroyed. Without the keys it opens nothing, but it is still
/// deleted, by the first start that finds the hardware.
///
/// Nothing has been authenticated by then, so header and note only say where to look. What is found there goes only if
/// it shows in itself that it was made for the home whose wipe key lies here. A backup, a copied header or a planted
/// note reaches nothing of another home.
package struct HardwareTarget {
    package static let id = "hardware"
    package static let what = "shares in the chip and the keyring"

    private let home: HomeDirectory
    private let settings: VaultSettings
    private let owner: HardwareOwner?
    private let cause: WipeCause
    /// Also where it could not be written down.
    private var note: HardwareNote
    /// Why a share could not be revoked, and what to do; nil while none was in the way.
    private(set) var problem: String?

    package init(_ home: HomeDirectory, _ settings: VaultSettings, _ owner: HardwareOwner?, _ cause: WipeCause) {
        self.home = home
        self.cause = cause
        self.owner = owner
        self.settings = settings
        note = HardwareNote.read(in: home) ?? HardwareNote()
    }

    /// Before the keys are erased: afterwards nothing names it any more. A disk that cannot take the note must not save
    /// the keys.
    package mutating func add(_ header: Header?) {
        guard let header else { return }
        let found = HardwareNote(of: header)
        note.add(found)
        // A copy names the shares of the vault that it was copied from.
        if header.home == owner?.home { note.owed += header.shareItems.filter { !note.owed.contains($0) } }
        guard !note.isEmpty else { return }
        try? note.write(in: home, [])
    }

    /// How letting go of one thing ended.
    private enum Ending {
        case gone, notHere, failed
    }

    /// - Returns: `failed` while a chip or keyring that is here does not answer, `foreign` for what is not here.
    package mutating func erase() throws(VaultError) -> (result: WipeResult, count: UInt32) {
        // A wipe by the rules may have begun where no key store could be asked, over files that somebody edited: what
        // hardware holds stays for the vault that a backup brings back, unless a store vouches for it now.
        if cause == .attempts, let owner, !note.isEmpty {
            switch DestructionRule(of: owner, settings.shareStores?(home.path)) {
            case .after, .unkept: break
            case .unanswered: return (.failed, 0)
            case .unknown:
                for name in HardwareNote.names + [HardwareNote.refused] { try home.clear(name) }
                return (.foreign, 0)
            }
        }
        var endings: [Ending] = []
        var left = note
        left.shares.removeAll { share in
            endings.append(end(share))
            return endings.last != .failed
        }
        left.anchors.removeAll { held in
            endings.append(endAnchor(held))
            return endings.last != .failed
        }
        // What a change was about to take away, or to bring, goes too: it was noted for this vault's own home.
        let revocable = left.owed + left.leaving + left.coming
        (left.move, left.leaving, left.coming) = (nil, [], [])
        let shareStores = revocable.isEmpty ? nil : settings.shareStores?(home.path)
        left.owed = revocable.filter { item in
            endings.append(end(item, in: shareStores))
            return endings.last == .failed
        }
        note = left
        let count = UInt32(clamping: endings.count { $0 == .gone })
        guard note.isEmpty else {
            try? note.write(in: home, [])
            return (.failed, count)
        }
        for name in HardwareNote.names + [HardwareNote.refused] { try home.clear(name) }
        if endings.contains(.notHere) { return (.foreign, count) }
        return (count > 0 ? .erased : .absent, count)
    }

    private func end(_ share: HardwareObject) -> Ending {
        guard let tier = settings.tier, let owner else { return .notHere }
        do throws(KeyStoreError) {
            return try tier.destroy(share, of: owner) == .gone ? .gone : .notHere
        } catch { return .failed }
    }

    private func endAnchor(_ held: HardwareOwner) -> Ending {
        guard let anchor = settings.anchor, let owner, held == owner else { return .notHere }
        do throws(KeyStoreError) { try anchor.release(owner) } catch { return .failed }
        return .gone
    }

    /// A share that was made for this home is waited for until its store has let it go: an old header would open with
    /// it.
    private mutating func end(_ item: ShareItem, in stores: ShareStores?) -> Ending {
        guard let owner, item.name.belongs(to: owner) else { return .notHere }
        // A note may be planted: a store that this system never has holds nothing, and files go with their folder.
        guard stores?.store(of: item.store) != nil || item.store.isOutsideHere else { return .notHere }
        do throws(ShareFailure) {
            guard let stores else { throw .unavailable(.absent(item.store, "this program may use no key store")) }
            return try stores.revoke(item, of: owner) == .anothers ? .notHere : .gone
        } catch {
            problem =
                "\(item.store.title) may still keep a key share and cannot be asked (\(error.reason)). The vault's own keys "
                + "are erased: what this share could still open are copies of the folder made before. To give it up, "
                + "delete \(home.path)"
            return .failed
        }
    }

    /// What a key store remembers of the rule is needed until the vault is gone, and opens nothing: nobody waits for
    /// it. Nor for what a killed process left there.
    package func forgetDestruction() {
        guard let owner, let stores = settings.shareStores?(home.path) else { return }
        try? stores.removeDestruction(of: owner)
        stores.revokeReleased(of: owner)
    }

    package var isErased: Bool { !(HardwareNote.names + [HardwareNote.refused]).contains(where: home.exists) }
}

extension KeyStoreKind {
    /// Whether a program on this system could have the store, and the home does not contain it.
    fileprivate var isOutsideHere: Bool {
        #if canImport(Security)
        self == .keychain
        #else
        self == .tpm || self == .secretService
        #endif
    }
}
