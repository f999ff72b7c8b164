package import OpenStorage
package import VaultFormat
internal import VaultHeader
package import VaultStorage

extension OpenCompartment {
    /// What can be told without opening anything; nothing of it is proved.
    package struct Status: Sendable, Hashable {
        /// Number of items, those sealed to the vault included.
        package var items: UInt64 = 0
        /// Bytes of the database's pages that they take.
        package var bytes = 0
        /// What the compartment takes.
        package var quota = Quota.standard
        /// What a reader must have proved: nothing.
        package let assurance = Assurance.none
        /// Whether items can be sealed to the vault.
        package var takesSealed = false
        /// Whether files that could not be read wait beside it.
        package var hasSetAside = false
        /// Why the items cannot be told.
        package var problem: VaultError?
    }

    /// The state of the compartment as far as it is told while the vault is locked. Never throws: it is for display.
    package func status() -> Status {
        var status = Status()
        status.quota = quota
        status.hasSetAside = home.exists(OpenFiles.damagedDatabase) || home.exists(OpenFiles.damagedKey)
        status.takesSealed = ((try? OpenPublicKey.read(in: home)) ?? nil) != nil
        guard home.exists(OpenFiles.database) else { return status }
        do throws(VaultError) {
            try read { store throws(VaultError) in
                guard let store else { return }
                status.items = try store.reader.root().count
                status.bytes = try store.usedBytes()
            }
        } catch { status.problem = error }
        return status
    }

    /// What ``Vault/verify(progress:)`` found in the open compartment.
    package struct Check: Sendable, Hashable {
        /// Items that are right.
        package var items = 0
        /// Pages and items that cannot be read, and items sealed to another key.
        package var unreadable = 0
        /// Items are missing, added, or older than Holdfast left them.
        package var isAltered = false
        /// The file with the public key; nothing is repaired by looking.
        package var publicKey = OpenPublicKeyState.unavailable
        /// Whether files that could not be read at an earlier unlock wait beside it; harmless.
        package var hasSetAside = false

        /// Nothing damaged, nothing planted.
        package var isIntact: Bool { unreadable == 0 && !isAltered && publicKey != .replaced }
    }

    func check(_ keys: UnlockedKeys) throws(VaultError) -> Check {
        var check = Check()
        check.hasSetAside = home.exists(OpenFiles.damagedDatabase) || home.exists(OpenFiles.damagedKey)
        check.publicKey = try OpenPublicKey.state(keys.keybag, of: keys.vault, in: home)
        guard home.exists(OpenFiles.database) else { return check }
        do throws(VaultError) {
            guard let lock = try LockedOpenKey.lock(in: home, vault: keys.vault, creating: false) else {
                throw .damaged("\(OpenFiles.key) is missing")
            }
            guard let key = try lock.read() else { return check }
            var contents = try OpenContents(key, vault: keys.vault, in: home)
            let inboxKeys = InboxKeys(keys)
            check.unreadable = try contents.forEach { fields, plaintext throws(VaultError) in
                try inboxKeys.open(fields, plaintext) { _, _, _ throws(VaultError) in check.items += 1 }
            }
            check.unreadable += contents.unreadable
            check.isAltered = contents.isAltered
        } catch {
            guard error.code == .damaged || error.code == .newerVersion || error.code == .tooLarge else { throw error }
            check.unreadable += 1
        }
        return check
    }

    /// Removes files that were set aside at an earlier unlock because they could not be read.
    /// - Returns: Whether there were any.
    @discardableResult
    package func removeSetAside() -> Bool {
        let names = [OpenFiles.damagedDatabase, OpenFiles.damagedKey].filter(home.exists)
        for name in names { home.removeAnything(name) }
        return !names.isEmpty
    }
}
