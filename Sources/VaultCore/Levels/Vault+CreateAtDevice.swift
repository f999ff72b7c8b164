internal import Cryptography
package import KeyStores
internal import SecretMemory
internal import VaultFolders
internal import VaultFormat
package import VaultHeader
internal import VaultLog
package import VaultStorage

extension Vault {
    /// Creates a vault that opens without asking, in a folder that does not exist or is empty: its key hangs on a share
    /// in the best key store of this device, which is all that keeps a copy of the folder shut. No key is stretched.
    ///
    /// It has no recovery phrase: it is lost with this device until it is given one.
    /// - Parameters:
    ///   - path: The folder.
    ///   - sharing: From when on the share is there.
    ///   - settings: With the key stores.
    /// - Throws: `exists`, `shareUnavailable`, `hardwareUnavailable`, `diskFull`, `readOnly`, `permissionDenied`;
    ///   nothing is left behind then, but what a store could not be asked to take away, which the next creation in this
    ///   folder does.
    package static func createAtDevice(
        at path: String, sharing: ShareAvailability = .whileUnlocked, settings: VaultSettings
    ) throws(VaultError) {
        guard let stores = settings.shareStores?(path) else {
            throw VaultError(.shareUnavailable, "this program may use no key store")
        }
        let creation = try VaultCreation(at: path) { home throws(VaultError) in
            try sweepUnfinished(home, stores)
        }
        do throws(VaultError) {
            try fill(creation.home, VaultPolicy.standard.at(.device, owner: []), settings) {
                header, master, keys throws(VaultError) in
                let share = try newKey()
                let item = try make(share, .nobodyAsked(sharing), for: header, keys, in: creation.home, stores)
                let nothing = try SecretBytes.zeros()
                header.set(try header.deviceSlot(item, nothing, share, wrapping: master))
            }
            try creation.finish()
        } catch {
            // What cannot be taken away now stays noted beside the marker, for the next creation here.
            do throws(VaultError) { try sweepUnfinished(creation.home, stores) } catch let left { throw left }
            creation.abandon()
            throw error
        }
        // What is missing of it now is done when the vault is opened.
        if let profile = settings.profile, let header = try? HeaderFile.read(in: creation.home) {
            _ = try? stores.set(header.present, of: profile)
        }
        HardwareNote.remove(in: creation.home)
    }

    /// A share of a home that is being made: noted with a tag under the share itself, since there is no header yet, and
    /// one under the master key that there will be.
    private static func make(
        _ share: borrowing SecretBytes, _ rule: ShareRule, for header: Header, _ keys: borrowing HeaderKeys,
        in home: HomeDirectory, _ stores: ShareStores
    ) throws(VaultError) -> ShareItem {
        let creationKey = NoteKey(creationOf: try share.copied())
        let noteKeys = [creationKey, keys.noteKey]
        let owner = header.owner
        do throws(ShareFailure) {
            return try stores.best().make(share, as: .fresh(for: owner), under: rule) { item throws(ShareFailure) in
                var note = HardwareNote()
                note.coming = [item]
                do throws(VaultError) { try note.write(in: home, noteKeys) } catch {
                    throw .failed(KeyStoreError(.failure, error.reason))
                }
            }
        } catch { throw VaultError(error) }
    }

    /// Revokes the share of a creation that was cut short. Only with the marker's lock, and only what shows that this
    /// creation made it: the share itself proves its note, or its place was never filled.
    private static func sweepUnfinished(_ home: HomeDirectory, _ stores: ShareStores) throws(VaultError) {
        guard let noted = try HardwareNote.unproved(in: home) else { return }
        for item in noted.note.coming {
            // A name of another home, or without this home's key, was not noted by a creation here.
            guard let owner = WipeKeyFile.owner(in: home, vault: item.name.vault), item.name.belongs(to: owner) else {
                continue
            }
            guard let store = stores.store(of: item.store) else {
                throw VaultError(.shareUnavailable, "the key store of an unfinished creation is not there")
            }
            do throws(ShareFailure) {
                let share = try store.read(item, of: owner.vault)
                let key = try? NoteKey(creationOf: share.copied())
                guard let key, let tag = noted.tags.first, key.isValid(tag, for: noted.covered) else { continue }
                _ = try stores.revoke(item, of: owner)
            } catch {
                switch error {
                case .lost(.unfinished), .lost(.emptied):
                    do throws(ShareFailure) { _ = try stores.revoke(item, of: owner) } catch {
                        throw VaultError(error)
                    }
                case .lost, .damaged: continue
                default: throw VaultError(error)
                }
            }
        }
    }
}

extension NoteKey {
    /// Of a home that is being made: a share has no other use, and what it tags has a text of its own before it.
    convenience init(creationOf share: consuming SecretBytes) {
        self.init(share, before: Array("holdfast/1/pending".utf8))
    }
}
