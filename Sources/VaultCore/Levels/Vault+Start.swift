package import KeyStores
internal import VaultFolders
internal import VaultFormat
package import VaultHeader
internal import VaultLog
package import VaultStorage
internal import SystemCalls

extension Vault {
    /// The vault in a folder for an app that is started: made at the level of the device where neither the folder nor
    /// the key store has a trace of one, else found. It is locked; ``openByDevice(accepting:)`` opens it where nobody
    /// is asked.
    /// - Parameters:
    ///   - path: The folder.
    ///   - sharing: From when on a new share is there.
    ///   - settings: With the key stores and the floor.
    /// - Throws: `wiped`; `vaultMissing` where the key store knows of a vault that is not there; `shareUnavailable`
    ///   where it cannot be asked whether there was one; as ``createAtDevice(at:sharing:settings:)`` and
    ///   ``init(at:settings:)``.
    package static func start(
        at path: String, sharing: ShareAvailability = .whileUnlocked, settings: VaultSettings
    ) throws(VaultError) -> Vault {
        switch try look(at: path, settings) {
        case .open, .wiped: break  // a vault that was destroyed says so when it is looked for
        case .create, .createAnew:
            guard !settings.opensOnly else {
                throw VaultError(.noVault, "there is no vault at \(path), and this process makes none")
            }
            try createAtDevice(at: path, sharing: sharing, settings: settings)
        case .missing(let floor):
            let what = floor.map { "the vault \($0.vault)" } ?? "a vault"
            throw VaultError(
                .vaultMissing, "this device remembers \(what), which is not in \(path); nothing was created")
        case .unknown:
            throw VaultError(
                .shareUnavailable, "the key store cannot be asked now whether there is a vault; nothing was created")
        }
        return try Vault(at: path, settings: settings)
    }

    /// What lies in the folder and in the key store.
    static func look(at path: String, _ settings: VaultSettings) throws(VaultError) -> StartupState {
        var folder = StartupState.Folder()
        if let home = try homeIfThere(path) {
            folder.hasHeader = home.exists(HeaderFile.name)
            folder.isUnfinished = home.exists(VaultCreation.marker)
            folder.hasReceipt = home.exists(WipeReceipt.fileName)
        }
        // A vault that is there is not looked for.
        guard !folder.hasHeader else { return .open }
        var floor = StartupState.Floor.none
        if let stores = settings.shareStores, let profile = settings.profile {
            floor = remembered(stores(path), profile)
        }
        return StartupState(folder, floor: floor)
    }

    private static func remembered(_ stores: ShareStores, _ profile: FloorProfile) -> StartupState.Floor {
        guard stores.hasFloors else { return .none }
        do throws(ShareFailure) {
            switch try stores.floor(of: profile) {
            case .none: return .none
            case .floor(let floor): return .some(floor)
            case .unreadable: return .unreadable
            }
        } catch { return .unknown }
    }

    private static func homeIfThere(_ path: String) throws(VaultError) -> HomeDirectory? {
        do throws(VaultError) { return try HomeDirectory(path: path) } catch {
            if error.code == .noVault { return nil }
            throw error
        }
    }

    private static func isThere(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Puts the folder aside and makes a new vault in its place, because the old one does not open here: moved from
    /// another device, of an earlier installation, its share lost. Nothing is deleted.
    /// - Returns: Where the old folder is now; nil where there was none.
    /// - Throws: `exists` after 100 earlier ones; as ``createAtDevice(at:sharing:settings:)``. The old folder may be
    ///   aside then.
    package static func startOver(
        at path: String, sharing: ShareAvailability = .whileUnlocked, settings: VaultSettings
    ) throws(VaultError) -> String? {
        var aside: String?
        // What a creation left that was cut short is swept by the next one, its share too.
        let home = try homeIfThere(path)
        if let home, !VaultCreation.isUnfinished(home) {
            guard let free = (1...100).lazy.map({ "\(path).before-\($0)" }).first(where: { !isThere($0) }) else {
                throw VaultError(.exists, "there are 100 folders that were put aside")
            }
            guard unsafe rename(path, free) == 0 else { throw .system(errno, "putting \(path) aside") }
            aside = free
        }
        try createAtDevice(at: path, sharing: sharing, settings: settings)
        return aside
    }
}
