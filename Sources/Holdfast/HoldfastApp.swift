/// Everything an app needs, in one object: a vault and the lock in front of it.
///
/// ```swift
/// let app = try await HoldfastApp.open(folder)  // first start: makes the vault, and asks for nothing
/// try app.vault.put(token, for: "api token", in: "work")
/// try await app.lock.requireOwner()  // the user's switch: a face, a finger, the device's passcode
/// try await app.lock.unlock()  // at the next start
/// ```
///
/// With a passcode of its own from the start, and 24 words:
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
    /// Why a vault that asks for nothing is not open after the start (`shareUnavailable`, `shareLost`, `levelLowered`,
    /// `levelContradicted`); nil where it is. The app shows it; ``AppLockCore/AppLock/unlock(_:)-(OwnerPrompts)`` tries
    /// again.
    public let startProblem: VaultError?
    /// Goes with a preview.
    private let folder: TemporaryFolder?

    /// Opens the home in a folder; it starts locked.
    /// - Parameters:
    ///   - path: The folder.
    ///   - isLockEnabled: Whether the app lock is on; nil for what the vault's rules say: off until its owner wants it,
    ///     see ``AppLockCore/AppLock/setEnabled(_:passcode:)``. The vault is still locked at launch.
    ///   - triggers: What locks at once, whatever the timing.
    ///   - minima: What an unlock must prove at least for a collection, whatever the vault's own rules say.
    ///   - wipeTargets: What of the app is destroyed together with the vault; the same ones at each start.
    /// - Throws: `wiped` once the vault was destroyed; `noVault`, `damaged`, `newerVersion`, `permissionDenied`,
    ///   `inputOutput`; `invalidName` for a target's identifier.
    public init(
        at path: String, isLockEnabled: Bool? = nil, triggers: LockTriggers = .standard,
        minima: [String: Assurance] = [:],
        wipeTargets: [any WipeTarget] = []
    ) throws(VaultError) {
        var settings = VaultSettings.app
        settings.minima = minima
        settings.wipeTargets = wipeTargets
        (startProblem, folder) = (nil, nil)
        vault = try Vault(at: path, settings: settings)
        lock = try AppLock(vault: vault, isEnabled: isLockEnabled, triggers: triggers)
    }

    /// A vault that its caller opened, and the lock in front of it.
    package init(
        vault: Vault, isLockEnabled: Bool? = nil, triggers: LockTriggers = .standard,
        authenticator: OwnerAuthenticator = .standard, problem: VaultError? = nil, in folder: TemporaryFolder? = nil
    ) throws(VaultError) {
        self.vault = vault
        self.folder = folder
        startProblem = problem
        lock = try AppLock(vault: vault, isEnabled: isLockEnabled, triggers: triggers, authenticator: authenticator)
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
