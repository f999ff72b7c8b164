package import Cryptography
internal import KeyStores
package import SecretMemory
internal import OpenStorage
internal import VaultFolders
internal import VaultFormat
package import VaultHeader
internal import VaultLog
package import VaultStorage
internal import SystemCalls

extension Vault {
    /// Creates a vault in a folder that does not exist or is empty.
    ///
    /// Calibrates the key derivation to this machine: a second or so. The vault is locked afterwards.
    /// - Returns: The recovery phrase, which is stored nowhere: show it to the owner now.
    /// - Throws: `exists`, `invalidPasscode`, `diskFull`, `readOnly`, `permissionDenied`; nothing is left behind then.
    package static func create(
        at path: String, passcode: borrowing SecretBytes
    ) throws(VaultError) -> RecoveryPhrase {
        try create(at: path, passcode: passcode, settings: .standard)
    }

    /// - Parameter approve: Called with the phrase when everything is written and nothing is a vault yet. What it
    ///   throws undoes the creation; a process that ends in it leaves a place for a vault.
    package static func create(
        at path: String, passcode: borrowing SecretBytes, settings: VaultSettings,
        approve: (borrowing RecoveryPhrase) throws(VaultError) -> Void = { _ in }
    ) throws(VaultError) -> RecoveryPhrase {
        try check(passcode: passcode)
        let creation = try VaultCreation(at: path)
        do throws(VaultError) {
            let phrase = try newRecoveryPhrase()
            let costs = try settings.newCosts()
            try fill(creation.home, .standard, settings) { header, master, _ throws(VaultError) in
                header.set(try passcodeSlot(passcode, costs: costs, wrapping: master, header: header, nil))
                header.set(try recoverySlot(phrase, wrapping: master, header: header))
            }
            try approve(phrase)
            try creation.finish()
            return phrase
        } catch {
            creation.abandon()
            throw error
        }
    }

    /// Writes everything that a new home has.
    /// - Parameter addSlots: Gives the header its slots, which wrap the master key.
    static func fill(
        _ home: HomeDirectory, _ policy: VaultPolicy, _ settings: VaultSettings,
        _ addSlots: (inout Header, borrowing SecretBytes, borrowing HeaderKeys) throws(VaultError) -> Void
    ) throws(VaultError) {
        guard let id = VaultID(bytes: try crypto { () throws(CryptographyError) in try SecureRandom.bytes(16) }) else {
            throw VaultError(.cryptography, "no random bytes")
        }
        let master = try newKey()
        let keybag = try Keybag(firstEpoch: 1)
        var header = Header(
            vault: id, generation: 1, created: UInt64(max(0, WallClock.milliseconds)), epoch: 1, policy: policy,
            sealedKeybag: [], slots: [])
        let headerKeys = try HeaderKeys(master: master, vault: id)
        // Before anything is made for this home outside of it: what is found there shows whose it is.
        try header.belong(to: WipeKeyFile.make(in: home, vault: id), headerKeys)
        try addSlots(&header, master, headerKeys)
        header.sealedKeybag = try keybag.sealed(by: headerKeys, vault: id, epoch: header.epoch)
        let covered = try format(HeaderFile.name, header.authenticatedBytes())
        header.mac = try headerKeys.mac(covered)
        try DatabaseEnvironment.create(.protected, in: home)
        let admission = Admission(.keyBound, policy: [:], settings: [:])
        let keys = try UnlockedKeys(header: header, headerKeys: headerKeys, keybag: keybag, admission: admission)
        try writeFirstRoot(keys.records, .protected, in: home)
        try AttemptLedger.create(in: home, vault: id, now: settings.clock.now())
        try SecurityLog.create(
            in: home, vault: keys.vault, keys: keys.logKeys(), clock: settings.clock.logMoment)
        try OpenPublicKey.write(keys.keybag, of: keys.vault, in: home)
        try HeaderFile.create(header, in: home)
    }

    /// The root record of a new store of records.
    static func writeFirstRoot(
        _ keys: RecordKeys, _ name: DatabaseName, in home: HomeDirectory
    ) throws(VaultError) {
        let database = try DatabaseEnvironment.acquire(name, in: home)
        let state = try WriterState(keys, database, in: home)
        let transaction = try WriteTransaction(database)
        try WriteSession.writeRoot(RootRecord(), state, transaction)
        try transaction.commit()
    }

    static func newKey() throws(VaultError) -> SecretBytes {
        try crypto { () throws(CryptographyError) in try SecureRandom.secret(32, lifetime: .longLived) }
    }

    /// A new phrase, belonging to no vault yet.
    /// - Throws: `cryptography`, `outOfMemory`.
    package static func newRecoveryPhrase() throws(VaultError) -> RecoveryPhrase {
        let entropy = try crypto { () throws(CryptographyError) in try SecureRandom.secret(32) }
        do throws(RecoveryPhraseError) {
            return try RecoveryPhrase(entropy: entropy)
        } catch { throw VaultError(.cryptography, "\(error)") }
    }

    /// Slot ids: the passcode has 1, the phrase 2; later kinds take what is free.
    static func passcodeSlot(
        _ passcode: borrowing SecretBytes, costs: DerivationParameters, wrapping master: borrowing SecretBytes,
        header: Header, _ maker: ShareMaker?
    ) throws(VaultError) -> Slot {
        var slot = try emptySlot(header.passcodeSlot?.id ?? 1, .passcode, [.bindsPolicy], costs)
        let factor = try SlotKey.stretch(passcode, for: slot)
        guard let maker else {
            return try SlotKey(factor: factor, slot: slot)
                .wrap(master, into: slot, vault: header.vault, policyDigest: header.policy.digest())
        }
        let made = try share(factor, slot, of: header, maker)
        do throws(VaultError) {
            slot.flags.insert(.hardwareShare)
            slot.hardwareName = made.object.name
            slot.kindData = made.object.data
            return try SlotKey(factor: factor, slot: slot, share: made.share)
                .wrap(master, into: slot, vault: header.vault, policyDigest: header.policy.digest())
        } catch {
            maker.discard(made.object)
            throw error
        }
    }

    /// A new share of a counted slot in the hardware, which gives it for what the slot's secret yields only.
    static func share(
        _ factor: borrowing SecretBytes, _ slot: Slot, of header: Header, _ maker: ShareMaker
    ) throws(VaultError) -> HardwareShare {
        let authorisation = try SlotKey.authorisation(factor: factor, slot: slot)
        do throws(KeyStoreError) {
            return try maker.make(authorisation: authorisation, limit: header.policy.attemptLimit)
        } catch { throw VaultError(error) }
    }

    static func recoverySlot(
        _ phrase: borrowing RecoveryPhrase, wrapping master: borrowing SecretBytes, header: Header
    ) throws(VaultError) -> Slot {
        let slot = try emptySlot(header.recoverySlot?.id ?? 2, .recoveryPhrase, [], nil)
        let factor = try SlotKey.expand(phrase, vault: header.vault)
        return try SlotKey(factor: factor, slot: slot)
            .wrap(master, into: slot, vault: header.vault, policyDigest: header.policy.digest())
    }

    static func emptySlot(
        _ id: UInt8, _ kind: SlotKind, _ flags: Slot.Flags, _ costs: DerivationParameters?
    ) throws(VaultError) -> Slot {
        let salt = try crypto { () throws(CryptographyError) in try SecureRandom.bytes(Slot.saltSize) }
        return Slot(id: id, kind: kind, flags: flags, derivation: costs, salt: salt, commitment: [])
    }
}
