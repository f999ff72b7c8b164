public import Cryptography
public import SecretMemory
internal import VaultFormat

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Prepares a folder for a new home. A marker lies in it until everything is written, so that a killed creation is
/// never taken for a vault, and can be started over.
struct VaultCreation: ~Copyable {
    static let marker = ".creating"
    /// What a creation may have left behind.
    private static let ownNames: Set<String> = [
        marker, HeaderFile.name, AttemptLedger.name, DatabaseEnvironment.fileName,
        DatabaseEnvironment.fileName + "-lock", FileStore.folder,
    ]

    let home: HomeDirectory
    private let madeFolder: Bool
    private let markerFile: DurableFile

    /// - Throws: `exists` when the folder holds anything but an unfinished creation; nothing is touched then.
    init(at path: String) throws(VaultError) {
        let madeFolder = try VaultCreation.makeFolders(path)
        let home = try HomeDirectory(path: path)
        let names = try home.names(in: ".")
        guard names.isEmpty || names.contains(VaultCreation.marker) && VaultCreation.ownNames.isSuperset(of: names)
        else {
            let what = names.contains(HeaderFile.name) ? "there is a vault at" : "there are other files in"
            throw VaultError(.exists, "\(what) \(path); nothing was changed")
        }
        guard let file = try home.openFile(VaultCreation.marker, O_RDWR | O_CREAT) else { throw .damaged("marker") }
        guard try file.tryLock(exclusive: true) else {
            throw VaultError(.busy, "another process is creating a vault at \(path)")
        }
        // The other one may have finished while we waited for nothing: its marker is gone and this one is ours alone.
        guard try home.names(in: ".").allSatisfy({ !names.isEmpty || $0 == VaultCreation.marker }) else {
            throw VaultError(.exists, "there is a vault at \(path); nothing was changed")
        }
        VaultCreation.removeContents(of: home)
        try system("protecting \(path)") { fchmod(home.descriptor, 0o700) }
        try home.makeFolder(FileStore.folder)
        self.home = home
        self.madeFolder = madeFolder
        markerFile = file
    }

    /// Makes the new home durable and takes the marker away: from now on it is a vault.
    func finish() throws(VaultError) {
        try home.synchronize(FileStore.folder)
        try home.synchronize()
        home.remove(VaultCreation.marker)
        try home.synchronize()
    }

    /// Undoes everything after a failure.
    func abandon() {
        VaultCreation.removeContents(of: home)
        home.remove(VaultCreation.marker)
        if madeFolder { unsafe rmdir(home.path) }
    }

    private static func removeContents(of home: HomeDirectory) {
        for name in (try? home.names(in: FileStore.folder)) ?? [] { home.remove(FileStore.path(name)) }
        unsafe unlinkat(home.descriptor, FileStore.folder, AT_REMOVEDIR)
        for name in VaultCreation.ownNames where name != VaultCreation.marker { home.remove(name) }
    }

    /// Creates the folder and those above it; true when the last one is new.
    private static func makeFolders(_ path: String) throws(VaultError) -> Bool {
        guard !path.isEmpty else { throw VaultError(.noVault, "the path of the vault is empty") }
        var made = false
        var end = path.startIndex
        while end < path.endIndex {
            end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
            let part = String(path[..<end])
            made = unsafe mkdir(part, 0o700) == 0
            let number = errno
            if !made && number != EEXIST && end == path.endIndex { throw .system(number, "creating \(path)") }
        }
        return made
    }
}

extension Vault {
    /// Creates a vault in a folder that does not exist or is empty.
    ///
    /// Calibrates the key derivation to this machine: a second or so. The vault is locked afterwards.
    /// - Returns: The recovery phrase, which is stored nowhere: show it to the owner now.
    /// - Throws: `exists`, `invalidPasscode`, `diskFull`, `readOnly`, `permissionDenied`; nothing is left behind then.
    public static func create(
        at path: String, passcode: borrowing SecretBytes
    ) throws(VaultError) -> RecoveryPhrase {
        try create(at: path, passcode: passcode, settings: .standard)
    }

    package static func create(
        at path: String, passcode: borrowing SecretBytes, settings: VaultSettings
    ) throws(VaultError) -> RecoveryPhrase {
        try check(passcode: passcode)
        let creation = try VaultCreation(at: path)
        do throws(VaultError) {
            let phrase = try fill(creation.home, passcode: passcode, settings: settings)
            try creation.finish()
            return phrase
        } catch {
            creation.abandon()
            throw error
        }
    }

    private static func fill(
        _ home: HomeDirectory, passcode: borrowing SecretBytes, settings: VaultSettings
    ) throws(VaultError) -> RecoveryPhrase {
        guard let id = VaultID(bytes: try crypto { () throws(CryptographyError) in try SecureRandom.bytes(16) }) else {
            throw VaultError(.cryptography, "no random bytes")
        }
        let master = try newKey()
        let keybag = try Keybag(firstEpoch: 1)
        let phrase = try newRecoveryPhrase()
        var header = Header(
            vault: id, generation: 1, created: UInt64(max(0, wallClockMilliseconds())), epoch: 1, policy: .standard,
            sealedKeybag: [], slots: [])
        let costs = try settings.newCosts()
        header.set(try passcodeSlot(passcode, costs: costs, wrapping: master, header: header))
        header.set(try recoverySlot(phrase, wrapping: master, header: header))
        let headerKeys = try HeaderKeys(master: master, vault: id)
        header.sealedKeybag = try keybag.sealed(by: headerKeys, vault: id, epoch: header.epoch)
        let covered = try format(HeaderFile.name) { () throws(FormatError) in try header.authenticatedBytes() }
        header.mac = try headerKeys.mac(covered)
        try DatabaseEnvironment.create(in: home)
        let keys = try UnlockedKeys(header: header, headerKeys: headerKeys, keybag: keybag)
        try writeFirstRoot(keys, in: home)
        try AttemptLedger.create(in: home, vault: id, now: settings.clock.now())
        try HeaderFile.create(header, in: home)
        return phrase
    }

    private static func writeFirstRoot(_ keys: UnlockedKeys, in home: HomeDirectory) throws(VaultError) {
        let database = try DatabaseEnvironment.acquire(in: home)
        let state = try WriterState(keys, database)
        let transaction = try WriteTransaction(database)
        try WriteSession.writeRoot(RootRecord(), state, transaction)
        try transaction.commit()
    }

    static func newKey() throws(VaultError) -> SecretBytes {
        try crypto { () throws(CryptographyError) in try SecureRandom.secret(32, lifetime: .longLived) }
    }

    /// A new phrase, belonging to no vault yet.
    /// - Throws: `cryptography`, `outOfMemory`.
    public static func newRecoveryPhrase() throws(VaultError) -> RecoveryPhrase {
        let entropy = try crypto { () throws(CryptographyError) in try SecureRandom.secret(32) }
        do throws(RecoveryPhraseError) {
            return try RecoveryPhrase(entropy: entropy)
        } catch { throw VaultError(.cryptography, "\(error)") }
    }

    /// Slot ids: the passcode has 1, the phrase 2; later kinds take what is free.
    static func passcodeSlot(
        _ passcode: borrowing SecretBytes, costs: DerivationParameters, wrapping master: borrowing SecretBytes,
        header: Header
    ) throws(VaultError) -> Slot {
        let slot = try emptySlot(header.passcodeSlot?.id ?? 1, .passcode, [.bindsPolicy], costs)
        let factor = try SlotKey.stretch(passcode, for: slot)
        return try SlotKey(factor: factor, slot: slot)
            .wrap(master, into: slot, vault: header.vault, policyDigest: header.policy.digest())
    }

    static func recoverySlot(
        _ phrase: borrowing RecoveryPhrase, wrapping master: borrowing SecretBytes, header: Header
    ) throws(VaultError) -> Slot {
        let slot = try emptySlot(header.recoverySlot?.id ?? 2, .recoveryPhrase, [], nil)
        let factor = try SlotKey.expand(phrase, vault: header.vault)
        return try SlotKey(factor: factor, slot: slot)
            .wrap(master, into: slot, vault: header.vault, policyDigest: header.policy.digest())
    }

    private static func emptySlot(
        _ id: UInt8, _ kind: SlotKind, _ flags: Slot.Flags, _ costs: DerivationParameters?
    ) throws(VaultError) -> Slot {
        let salt = try crypto { () throws(CryptographyError) in try SecureRandom.bytes(Slot.saltSize) }
        return Slot(id: id, kind: kind, flags: flags, derivation: costs, salt: salt, commitment: [])
    }
}
