/// Everything an app needs, in one object: a vault and the lock in front of it.
///
/// ```swift
/// let phrase = try HoldfastApp.create(at: folder, passcode: passcode)   // show it to the user, once
/// let app = try HoldfastApp(at: folder)
/// try await app.lock.unlock(.passcode, passcode)
/// try await app.lock.setEnabled(true, passcode: passcode)               // the user's switch, once
/// try app.vault.put(token, for: "api token", in: "work")
/// try app.vault.withValue(for: "api token", in: "work") { bytes in use(bytes) }
/// await app.lock.forceLock()
/// ```
///
/// With a finger, after the passcode and for three days:
///
/// ```swift
/// try await app.lock.enrollOwner(.biometrics, passcode: passcode)        // once
/// try await app.lock.unlock(by: .biometrics)
/// ```
public final class HoldfastApp: Sendable {
    /// Where values are kept. Its calls fail with `locked` until the lock is open.
    public let vault: Vault
    /// Decides when the vault is open; feed it the app's life-cycle events.
    public let lock: AppLock

    /// Opens the home in a folder; it starts locked.
    /// - Parameters:
    ///   - path: The folder.
    ///   - isLockEnabled: Whether the app lock is on; nil for what the vault's rules say: off until its owner wants it,
    ///     see ``AppLockCore/AppLock/setEnabled(_:passcode:)``. The vault is still locked at launch.
    ///   - triggers: What locks at once, whatever the timing.
    ///   - minima: What an unlock must prove at least for a collection, whatever the vault's own rules say.
    ///   - wipeTargets: What of the app is destroyed together with the vault; the same ones at each start.
    /// - Throws: `wiped` once the vault was destroyed; `noVault`, `damaged`, `newerVersion`, `permissionDenied`, `inputOutput`;
    ///   `invalidName` for a target's identifier.
    public init(
        at path: String, isLockEnabled: Bool? = nil, triggers: LockTriggers = .standard,
        minima: [String: Assurance] = [:],
        wipeTargets: [any WipeTarget] = []
    ) throws(VaultError) {
        var settings = VaultSettings.app
        settings.minima = minima
        settings.wipeTargets = wipeTargets
        vault = try Vault(at: path, settings: settings)
        lock = try AppLock(vault: vault, isEnabled: isLockEnabled, triggers: triggers)
    }

    /// A vault that its caller opened, and the lock in front of it.
    package init(
        vault: Vault, isLockEnabled: Bool? = nil, authenticator: OwnerAuthenticator = .standard
    ) throws(VaultError) {
        self.vault = vault
        lock = try AppLock(vault: vault, isEnabled: isLockEnabled, authenticator: authenticator)
    }

    /// Creates a home in a folder that does not exist or is empty.
    /// - Returns: The recovery phrase, which is stored nowhere.
    /// - Throws: `exists`, `invalidPasscode`, `diskFull`, `readOnly`, `permissionDenied`; nothing is left behind then.
    public static func create(
        at path: String, passcode: borrowing SecretBytes
    ) throws(VaultError) -> RecoveryPhrase {
        try Vault.create(at: path, passcode: passcode)
    }
}
