package import DeviceOwner
package import KeyStores
internal import Synchronization
internal import SystemCalls

/// An app without ceremony: its vault is there at the first start, and grows when its user wants it to.
extension HoldfastApp {
    /// Where the share of a vault that begins without a secret is kept.
    public enum Stores: Sendable, Hashable {
        /// The best key store of this device: the keychain; a TPM or the session's keyring.
        case system
        #if canImport(Security)
        /// The keychain, in an access group that the app shares with its extensions, as its entitlements name it: with
        /// the team's prefix. A vault's group is the same at each start.
        case group(String)
        #endif
        /// A file beside the vault. It protects nothing on its own: any program of the user, and anyone with the disk,
        /// reads it.
        case file
        /// The memory of this process, for previews and tests. Takes only a folder that this process made in the
        /// temporary folder, because nothing opens the vault once the process has ended.
        case inMemory
    }

    /// From when on the share is there. Only Apple's systems know the difference.
    public enum ShareTime: Sendable, Hashable {
        /// While the device is unlocked.
        case whileUnlocked
        /// From the first unlock after a start, also while the device is locked: for apps that work in the background.
        case afterFirstUnlock
    }

    /// Opens the vault in a folder, or makes it at the first start: no passcode, no words, nothing asked. Key stores
    /// are asked on a thread of their own.
    ///
    /// A vault that asks for nothing is open when this returns. One that its user has made ask for more is locked: call
    /// ``AppLockCore/AppLock/unlock(_:)-(OwnerPrompts)``. It is locked too where its key store cannot be asked now or
    /// has lost the share, or where another vault lies in its place: ``startProblem`` says so, and the app shows it.
    /// Nothing is created where anything says that a vault was here.
    /// - Parameters:
    ///   - path: The folder.
    ///   - profile: Tells the vaults of one app apart where the device remembers them; 1 to 64 bytes, and never a path.
    ///   - share: From when on the share is there.
    ///   - stores: Where it is kept.
    ///   - triggers: What locks at once, whatever the timing.
    ///   - minima: What an unlock must prove at least for a collection, whatever the vault's own rules say.
    ///   - wipeTargets: What of the app is destroyed together with the vault; the same ones at each start.
    ///   - opensOnly: For an extension of the app: a vault that is there is opened, and what the app itself does at a
    ///     start is left to it. Nothing is made, moved or cleared away, and without a vault it throws `noVault`.
    /// - Throws: `wiped`; `vaultMissing` where the device remembers a vault that is not in the folder (then
    ///   ``startOver(_:profile:share:stores:)``); `shareUnavailable` where it cannot be asked whether there was one;
    ///   `hardwareUnavailable` without a key store; `invalidName` for a profile; `damaged`, `newerVersion`, `exists`,
    ///   `diskFull`, `readOnly`, `permissionDenied`, `inputOutput`.
    public static func open(
        _ path: String, profile: String = "default", share: ShareTime = .whileUnlocked, stores: Stores = .system,
        triggers: LockTriggers = .standard, minima: [String: Assurance] = [:], wipeTargets: [any WipeTarget] = [],
        opensOnly: Bool = false
    ) async throws(VaultError) -> HoldfastApp {
        var settings = try VaultSettings.levels(path, profile, stores)
        settings.minima = minima
        settings.wipeTargets = wipeTargets
        settings.opensOnly = opensOnly
        do throws(VaultError) {
            return try await start(path, settings, sharing: share.availability, triggers: triggers)
        } catch {
            #if canImport(Security)
            throw error  // the keychain is always there, and is only asked too early
            #else
            guard stores == .system, [.shareUnavailable, .hardwareUnavailable].contains(error.code) else { throw error }
            var told = VaultError(
                error.code,
                "\(error.reason). A machine that has neither a TPM nor a keyring, such as a container or a build server, needs "
                    + "stores: .file: then the key is in a file beside the vault, and anyone who can read the folder can open it"
            )
            told.until = error.until
            throw told
            #endif
        }
    }

    /// As ``open(_:profile:share:stores:triggers:minima:wipeTargets:opensOnly:)``, with what tests replace.
    package static func start(
        _ path: String, _ settings: VaultSettings, sharing: ShareAvailability = .whileUnlocked,
        triggers: LockTriggers = .standard, authenticator: OwnerAuthenticator = .standard
    ) async throws(VaultError) -> HoldfastApp {
        let vault = try await blocking { () throws(VaultError) in
            try Vault.start(at: path, sharing: sharing, settings: settings)
        }
        return try await opening(vault, triggers, authenticator)
    }

    /// Puts a vault aside that does not open here, and begins a new one in its place. Nothing is deleted.
    /// - Returns: Where the old folder is now; nil where there was none.
    /// - Throws: As ``open(_:profile:share:stores:triggers:minima:wipeTargets:opensOnly:)``.
    public static func startOver(
        _ path: String, profile: String = "default", share: ShareTime = .whileUnlocked, stores: Stores = .system
    ) async throws(VaultError) -> String? {
        let (settings, sharing) = (try VaultSettings.levels(path, profile, stores), share.availability)
        return try await blocking { () throws(VaultError) in
            try Vault.startOver(at: path, sharing: sharing, settings: settings)
        }
    }

    /// Whether this device has a key store for a vault that opens without asking. It may take a moment.
    package static func canBeginWithoutAsking(_ path: String) async -> Bool {
        let probe = try? await blocking { () throws(VaultError) in
            guard let stores = VaultSettings.app.shareStores?(path) else { return false }
            do throws(ShareFailure) {
                _ = try stores.best()
                return true
            } catch { return false }
        }
        return probe ?? false
    }

    /// Makes a vault that opens without asking, and keeps no floor: nothing but the folder says that it is there.
    /// - Throws: As ``open(_:profile:share:stores:triggers:minima:wipeTargets:opensOnly:)``.
    package static func createWithoutAsking(_ path: String) async throws(VaultError) {
        try await blocking { () throws(VaultError) in try Vault.createAtDevice(at: path, settings: .app) }
    }

    /// An app for a preview or a test, in a temporary folder that goes with it, with its shares in memory. Its owner
    /// confirms everything without a prompt.
    /// - Parameter level: Where its vault stands; it is open. At ``VaultFormat/VaultLevel/secret`` the passcode is
    ///   `preview`.
    /// - Throws: What creating throws.
    public static func preview(level: VaultLevel = .device) async throws(VaultError) -> HoldfastApp {
        let folder = try TemporaryFolder()
        let path = folder.path + "/vault"
        let settings = try VaultSettings.levels(path, "preview", .inMemory)
        let vault = try await blocking { () throws(VaultError) in
            let vault = try Vault.start(at: path, settings: settings)
            try vault.openByDevice()
            return vault
        }
        let app = try HoldfastApp(vault: vault, authenticator: .forPreviews, in: folder)
        switch level {
        case .device: break
        case .owner: try await app.lock.requireOwner()
        case .secret:
            let passcode: SecretBytes
            do throws(SecretMemoryError) { passcode = try SecretBytes(utf8: "preview") } catch {
                throw VaultError(error)
            }
            try await app.lock.requirePasscode(passcode)
        }
        _ = try await blocking { () throws(VaultError) in try vault.finishRekey() }
        return app
    }

    /// How the vault is protected: its level, what opens it, where each share rests, and whether losing the device
    /// loses it. ``AppLockCore/AppLock/protections()`` tells of each change.
    /// - Throws: What reading the header throws.
    public var protection: Protection {
        get throws(VaultError) { try vault.protection() }
    }

    private static func opening(
        _ vault: Vault, _ triggers: LockTriggers, _ authenticator: OwnerAuthenticator
    ) async throws(VaultError) -> HoldfastApp {
        var problem: VaultError?
        if try vault.protection().level == .device {
            do throws(VaultError) { try await blocking { () throws(VaultError) in try vault.openByDevice() } } catch {
                switch error.code {
                case .shareUnavailable, .shareLost, .levelLowered, .levelContradicted: problem = error
                default: throw error
                }
            }
        }
        return try HoldfastApp(vault: vault, triggers: triggers, authenticator: authenticator, problem: problem)
    }

    /// On a thread that may wait for key stores and disks.
    private static func blocking<R: Sendable>(
        _ work: @escaping @Sendable () throws(VaultError) -> R
    ) async throws(VaultError) -> R {
        let result: Result<R, VaultError> = await withCheckedContinuation { ended in
            let isRunning = DetachedThread.start {
                ended.resume(returning: Result { () throws(VaultError) in try work() })
            }
            if !isRunning { ended.resume(returning: .failure(VaultError(.busy, "the system has no thread left"))) }
        }
        return try result.get()
    }
}

extension HoldfastApp.ShareTime {
    fileprivate var availability: ShareAvailability {
        switch self {
        case .whileUnlocked: .whileUnlocked
        case .afterFirstUnlock: .afterFirstUnlock
        }
    }
}

extension VaultSettings {
    /// Of a vault that begins without a secret.
    fileprivate static func levels(
        _ path: String, _ profile: String, _ stores: HoldfastApp.Stores
    ) throws(VaultError) -> VaultSettings {
        guard let profile = FloorProfile(profile) else {
            throw VaultError(.invalidName, "a profile has 1 to 64 bytes")
        }
        var settings = VaultSettings.app
        settings.profile = profile
        switch stores {
        case .system: break
        #if canImport(Security)
        case .group(let group):
            settings.shareStores = { ShareStores.system(group: group).reading(filesIn: $0 + "/shares") }
        #endif
        case .file:
            settings.shareStores = { ShareStores.files(in: $0 + "/shares") }
        case .inMemory:
            let memory = try MemoryHomes.stores(for: path)
            settings.shareStores = { _ in memory }
        }
        return settings
    }
}

/// Shares in memory, by the home that this process made for them.
private enum MemoryHomes {
    private static let homes = Mutex<[String: ShareStores]>([:])

    /// - Throws: `shareUnavailable` for a home that this process did not make in the temporary folder.
    static func stores(for path: String) throws(VaultError) -> ShareStores {
        let isTemporary = path.hasPrefix(TemporaryFolder.parent + "/") || path.hasPrefix("/tmp/")
        let isThere = unsafe access(path + "/header", F_OK) == 0
        let found = homes.withLock { homes in
            if let known = homes[path] { return Optional(known) }
            guard isTemporary, !isThere else { return nil }
            let fresh = ShareStores.inMemory()
            homes[path] = fresh
            return fresh
        }
        guard let found else {
            throw VaultError(
                .shareUnavailable, "shares in memory are for a vault that this process made in the temporary folder")
        }
        return found
    }
}
