public import Holdfast
internal import KeyStores
internal import Synchronization
internal import VaultCore
internal import VaultHeader
internal import VaultStorage

/// A vault in a temporary folder for the tests of an app, with key derivation that takes no time, a clock that the test
/// moves, and a scripted device owner. The folder is removed with this object.
///
/// ```swift
/// let vault = try TestVault(passcode: "1234")
/// let app = try vault.app()                             // as the app finds it when it is started
/// try await app.lock.unlock(.passcode, vault.passcode)
/// vault.clock.advance(by: .seconds(30))
/// ```
///
/// Never ship it: anyone who copies a vault made here finds its passcode in no time, and no vault of `Holdfast` opens
/// with such costs.
public final class TestVault: Sendable {
    /// The folder of the vault.
    public let path: String
    /// The clock of delays and of the owner's unlock.
    public let clock = TestClock()
    /// Who answers the system's prompts.
    public let owner = ScriptedOwner()
    /// Where shares for the owner's unlock are stored.
    public let keyStore = InMemoryKeyStore()
    /// The chip that counts wrong passcodes and PINs; nil for a device without one.
    public let chip: InMemoryChip?
    /// The passcode that the vault was made with.
    public let passcode: SecretBytes
    /// The phrase that `HoldfastApp.create` returned.
    public let recoveryPhrase: RecoveryPhrase
    private let folder: TemporaryFolder

    /// Creates the vault. It is locked, and its app lock is off.
    /// - Parameters:
    ///   - passcode: At least 1 byte of UTF-8.
    ///   - chip: A chip for the device.
    /// - Throws: As `HoldfastApp.create(at:passcode:)`; `permissionDenied` when there is no temporary folder.
    public init(passcode: String = "test passcode", chip: InMemoryChip? = nil) throws(VaultError) {
        let folder = try TemporaryFolder()
        self.folder = folder
        path = folder.path + "/vault"
        self.chip = chip
        let bytes = Array(passcode.utf8)
        do throws(SecretMemoryError) { self.passcode = unsafe try SecretBytes(copying: bytes.span.bytes) } catch {
            throw VaultError(error)
        }
        let settings = VaultSettings.costsForTests(clock: clock)
        recoveryPhrase = try Vault.create(at: path, passcode: self.passcode, settings: settings)
    }

    /// Opens the vault as an app does when it is started; it starts locked. Each call returns another object, as
    /// another start of the app would.
    /// - Parameters:
    ///   - isLockEnabled: As in `HoldfastApp.init(at:isLockEnabled:minima:wipeTargets:)`.
    ///   - wipeTargets: The same.
    /// - Throws: The same.
    public func app(
        isLockEnabled: Bool? = nil, wipeTargets: [any WipeTarget] = []
    ) throws(VaultError) -> HoldfastApp {
        var settings = VaultSettings.costsForTests(clock: clock)
        settings.wipeTargets = wipeTargets
        settings.tier = chip
        settings.shareStores = { [keyStore] _ in ShareStores([keyStore], floors: []) }
        settings.armsOwner = true
        return try HoldfastApp(
            vault: Vault(at: path, settings: settings), isLockEnabled: isLockEnabled,
            authenticator: owner.authenticator)
    }
}

/// A clock that stands until a test moves it: delays after wrong passcodes and the days for which an enrolled finger is
/// accepted run on it.
public final class TestClock: Sendable {
    private let state = Mutex(BootInstant(bootID: [UInt8](repeating: 1, count: 16), milliseconds: 1_000_000))

    /// A clock of a device that was started a while ago.
    package init() {}

    /// Lets time pass.
    /// - Parameter duration: Whole milliseconds; a negative duration lets none pass.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let milliseconds = UInt64(clamping: seconds) * 1000 + UInt64(clamping: attoseconds / 1_000_000_000_000_000)
        state.withLock { $0 = BootInstant(bootID: $0.bootID, milliseconds: $0.milliseconds + milliseconds) }
    }

    /// Restarts the device: the clock begins again near zero, and a delay begins again with it.
    public func restartDevice() {
        state.withLock { $0 = BootInstant(bootID: $0.bootID.map { $0 &+ 1 }, milliseconds: 5_000) }
    }
}

extension TestClock: BootClock {
    package func now() -> BootInstant { state.withLock { $0 } }
}
