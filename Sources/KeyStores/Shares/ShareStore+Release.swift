internal import Cryptography
package import DeviceOwner
internal import SecretMemory
package import VaultFormat

extension ShareStore {
    /// Makes sure that a release is one: a share that opens nothing is put under the owner's rule, read back with the release,
    /// and revoked. Where the store enforces the rule, only its owner's confirmation gets it back; where it does not, this
    /// shows no more than that the store works.
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
