internal import Cryptography
package import DeviceOwner
package import SecretMemory
package import VaultFormat

/// A key store of this device that keeps shares which can be revoked: once ``revoke(_:of:)`` has returned, a copy of
/// the old header opens nothing with this store as it is now.
///
/// A share is made under a name that was never used before, read back, and revoked; it is never replaced. What the slot
/// keeps to find it again is a `ShareItem` (vault-format.md 5): no store deletes anything that is not named by one,
/// and none deletes what does not show that it was made for the vault whose id the caller gives.
///
/// Crash safety is the caller's, with what `make` tells it: the item is handed to `note` before the store has anything
/// of it, so that it can lie on the disk (`hardware.pending`). Whatever was noted can be handed to ``revoke(_:of:)``
/// later, whether or not it was ever made.
///
/// Calls wait for other programs and chips; keep them off the main thread.
package protocol ShareStore: Sendable {
    /// Which one; the number that slots keep.
    var kind: KeyStoreKind { get }

    /// What an unlock proves that redeems a share under this rule.
    func assurance(of rule: ShareRule) -> Assurance

    /// Keeps a share of 32 bytes under a new name. What nobody has to be asked for was read back when this returns;
    /// what the owner has to be asked for is not: read it back with ``read(_:of:after:)`` and the release at hand.
    /// - Parameters:
    ///   - share: 32 random bytes.
    ///   - name: ``ShareName/fresh(for:)``. A name that is taken is a failure, and nothing is changed.
    ///   - rule: Who gets it back.
    ///   - note: Called with the item before the store has anything of it. Perhaps called more than once: the last one
    ///     holds. What it throws ends the making.
    /// - Returns: The item that was noted last.
    /// - Throws: ``ShareFailure``. Nothing is left behind, but after a failure of the removal itself: what was noted is
    ///   then still worth a ``revoke(_:of:)``.
    func make(
        _ share: borrowing SecretBytes, as name: ShareName, under rule: ShareRule,
        note: (ShareItem) throws(ShareFailure) -> Void
    ) throws(ShareFailure) -> ShareItem

    /// Gives back a share that nobody is asked for.
    /// - Parameter vault: The slot's. An item that was not made for it is `damaged`, and the store is not asked.
    /// - Throws: ``ShareFailure``.
    func read(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> SecretBytes

    /// Gives back a share under ``ShareRule/owner(_:)`` or ``ShareRule/released(by:after:)``. Only a store of an
    /// Apple device asks the owner itself; a keyring and files give the share to every program of the user.
    /// - Throws: ``ShareFailure``; `notConfirmed` for a release that this store does not take.
    func read(
        _ item: ShareItem, of vault: VaultID, after release: borrowing OwnerRelease
    ) throws(ShareFailure) -> SecretBytes

    /// Revokes a share: overwrites it, reads that back, and removes it. Never asks anybody.
    /// - Returns: The outcome; for all but `anothers` the share is gone for good.
    /// - Throws: ``ShareFailure`` when the store could not be asked, or still has the share.
    func revoke(_ item: ShareItem, of vault: VaultID) throws(ShareFailure) -> Revocation

    /// Makes sure that a share could be kept now, without asking anybody and without leaving anything.
    /// - Throws: ``ShareFailure`` that says what is missing.
    func probe() throws(ShareFailure)
}

extension ShareStore {
    package func read(
        _ item: ShareItem, of vault: VaultID, after release: borrowing OwnerRelease
    ) throws(ShareFailure) -> SecretBytes { try read(item, of: vault) }
}

/// Who gets a share back.
package enum ShareRule: Sendable {
    /// Every program that has this store: nobody is asked.
    case nobodyAsked(ShareAvailability)
    /// Whoever confirms to be the device's owner in one of these ways. With biometrics it is what is enrolled now;
    /// where the device's passcode is among them, it stays when the enrollment changes.
    case owner(Set<OwnerStep>)
    /// As ``owner(_:)``, for a share that ends with this process: it is made under ``ShareName/released(for:)``, in
    /// the place of the one that a process before may have left there. A chip keeps nothing of it and gives it only to
    /// a release with this secret.
    case released(by: ReleaseKey, after: Set<OwnerStep>)

    /// Whether a share that has the name already is removed first.
    var replaces: Bool {
        if case .released = self { true } else { false }
    }
}

/// What a release has to bring for a share that was made for it.
package final class ReleaseKey: Sendable {
    let authorisation: SecretBytes

    /// - Parameter secret: What the release will bring: 32 bytes.
    /// - Throws: ``ShareFailure`` (`failed`) without memory.
    package init(_ secret: borrowing SecretBytes) throws(ShareFailure) {
        let salt: [UInt8] = []
        do throws(CryptographyError) {
            authorisation = try unsafe HKDFSHA256.derive(
                secret, salt: salt.span.bytes, info: "holdfast/1/owner-auth", count: 32)
        } catch { throw .failed(KeyStoreError(any: error)) }
    }
}

/// From when on a share is there. Only the systems of Apple's devices know the difference.
package enum ShareAvailability: Sendable, Hashable {
    /// While the device is unlocked.
    case whileUnlocked
    /// From the first unlock after the device was started, also while it is locked: for apps that work in the
    /// background.
    case afterFirstUnlock
}

/// The outcome of revoking a share.
package enum Revocation: Sendable, Hashable {
    /// Nothing of it is there any more, or was there.
    case gone
    /// It was overwritten, which was read back; but the store keeps what it was in. The share is revoked.
    case emptied
    /// The item does not show that it was made for this vault: nothing was asked for and nothing was touched.
    case anothers
}

extension ShareItem {
    /// Whether it was made for this vault, in this kind of store.
    func isOf(_ kind: KeyStoreKind, _ vault: VaultID) -> Bool { store == kind && name.vault == vault }

    /// - Throws: ``ShareFailure`` (`damaged`) unless ``isOf(_:_:)``.
    func check(_ kind: KeyStoreKind, of vault: VaultID) throws(ShareFailure) {
        guard isOf(kind, vault) else { throw .damaged }
    }
}

// A name shows whose the share is: five random bytes, then what these come to with the vault and the home. Nobody can
// take a share away by writing its name into another home's note.
extension ShareName {
    private static let drawnSize = 5

    /// A name that was never used.
    /// - Throws: ``ShareFailure`` without random numbers.
    package static func fresh(for owner: HardwareOwner) throws(ShareFailure) -> ShareName {
        do throws(CryptographyError) {
            let drawn = try SecureRandom.bytes(drawnSize)
            guard let name = ShareName(vault: owner.vault, nonce: drawn + proof(drawn, owner)) else {
                throw CryptographyError.invalidSize
            }
            return name
        } catch { throw .failed(KeyStoreError(any: error)) }
    }

    /// The one name of a home that is used again: of the share that a running process opens with
    /// (``ShareRule/released(by:after:)``). It needs no note, because whoever knows the home finds it.
    package static func released(for owner: HardwareOwner) throws(ShareFailure) -> ShareName {
        let drawn = [UInt8](repeating: 0, count: drawnSize)
        guard let name = ShareName(vault: owner.vault, nonce: drawn + proof(drawn, owner)) else { throw .damaged }
        return name
    }

    /// Whether it was made for this vault, and for this home of it.
    package func belongs(to owner: HardwareOwner) -> Bool {
        let drawn = Array(nonce.prefix(ShareName.drawnSize))
        return vault == owner.vault && nonce == drawn + ShareName.proof(drawn, owner)
    }

    private static func proof(_ drawn: [UInt8], _ owner: HardwareOwner) -> [UInt8] {
        let text = Array("holdfast/1/share-of".utf8) + owner.vault.bytes + owner.home + drawn
        return Array(unsafe SHA256.hash(text.span.bytes).bytes.prefix(nonceSize - drawnSize))
    }
}

extension ShareName {
    /// What stores call it that take texts: 64 hexadecimal digits.
    var text: String { Hexadecimal.encode(bytes) }
}

extension ShareStore {
    /// Makes sure that a release is one: a share that opens nothing is put under the owner's rule, read back with the
    /// release, and revoked. Where the store enforces the rule, only its owner's confirmation gets it back; where it
    /// does not, this shows no more than that the store works.
    /// - Parameters:
    ///   - release: Of the owner who was confirmed a moment ago.
    ///   - steps: The ways in which the owner may have been confirmed.
    ///   - owner: Whose change it is for.
    ///   - note: As for ``make(_:as:under:note:)``: what is left by a process that is killed here has to be revoked.
    /// - Throws: ``ShareFailure``; `notConfirmed` for a release that gets nothing back.
    package func check(
        _ release: borrowing OwnerRelease, after steps: Set<OwnerStep>, of owner: HardwareOwner,
        note: (ShareItem) throws(ShareFailure) -> Void
    ) throws(ShareFailure) {
        let share: SecretBytes
        do throws(CryptographyError) { share = try SecureRandom.secret(32) } catch {
            throw .failed(KeyStoreError(any: error))
        }
        let item = try make(share, as: .fresh(for: owner), under: .owner(steps), note: note)
        do throws(ShareFailure) {
            guard try read(item, of: owner.vault, after: release).isEqual(to: share) else { throw .notConfirmed }
        } catch {
            _ = try? revoke(item, of: owner.vault)
            throw error
        }
        guard try revoke(item, of: owner.vault) != .anothers else { throw .damaged }
    }
}

extension ShareStore {
    /// Keeps a share that opens nothing, reads it, and revokes it.
    /// - Throws: ``ShareFailure`` that says what does not work.
    package func roundTrip() throws(ShareFailure) {
        try shareFailures(in: kind) {
            let share = try SecureRandom.secret(32)
            guard let vault = VaultID(bytes: try SecureRandom.bytes(16)) else { return }
            let owner = HardwareOwner(vault: vault, home: try SecureRandom.bytes(32))
            let item = try make(share, as: .fresh(for: owner), under: .nobodyAsked(.whileUnlocked)) { _ in }
            do {
                guard try read(item, of: vault).isEqual(to: share) else {
                    throw KeyStoreError(.damaged, "what was stored did not come back")
                }
            } catch {
                _ = try? revoke(item, of: vault)
                throw error
            }
            guard try revoke(item, of: vault) == .gone else {
                throw KeyStoreError(.failure, "what was stored could not be removed")
            }
        }
    }
}
