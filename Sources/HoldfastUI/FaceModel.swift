public import Holdfast
public import Observation

/// Everything a face shows, from the first run to the end of the vault.
@MainActor @Observable
public final class FaceModel {
    /// What there is to show.
    public enum Phase {
        /// There is no vault yet.
        case setup(SetupModel)
        /// There is one.
        case ready(AppModels)
        /// It was destroyed; where the receipt lies.
        case destroyed(receiptPath: String)
        /// It cannot be used.
        case failed(VaultProblem)
    }

    /// What there is to show.
    public private(set) var phase: Phase

    /// The vault's folder.
    public let path: String
    @ObservationIgnored private let face: String
    @ObservationIgnored private let open: SetupModel.Open

    /// - Parameters:
    ///   - path: The vault's folder.
    ///   - face: Names the face, for its preferences: `desktop`, `ios`.
    public convenience init(at path: String, face: String) {
        self.init(at: path, face: face, open: { path throws(VaultError) in try HoldfastApp(at: path) })
    }

    package init(
        at path: String, face: String, open: @escaping @Sendable (String) throws(VaultError) -> HoldfastApp
    ) {
        self.path = path
        self.face = face
        self.open = open
        phase = .failed(.noVault)
        load()
    }

    /// Looks at the folder again.
    public func load() {
        do throws(VaultError) {
            let models = AppModels(try open(path), face: face)
            models.lock.send(.launch)
            phase = .ready(models)
        } catch {
            switch error.code {
            case .noVault: phase = .setup(SetupModel(at: path))
            case .wiped: phase = .destroyed(receiptPath: receiptPath)
            default: phase = .failed(VaultProblem(error))
            }
        }
    }

    /// The assistant is done: continues with the vault that it created.
    public func finishSetup() async {
        guard case .setup(let setup) = phase, setup.step == .finished else { return }
        guard let app = setup.app else { return load() }
        let models = AppModels(app, face: face)
        await models.lock.refresh()
        phase = .ready(models)
    }

    /// The vault behind the models is no more.
    public func noteDestroyed() { phase = .destroyed(receiptPath: receiptPath) }

    private var receiptPath: String { "\(path)/\(WipeReceipt.fileName)" }
}

/// The models of one open app, wired so that nothing decrypted outlives the lock.
@MainActor
public final class AppModels {
    /// The lock screen.
    public let lock: LockModel
    /// What hides content.
    public let cover: PrivacyCover
    /// The scenes in front of the lock.
    public let scenes: ScenePresence
    /// The choices about this face.
    public let preferences: PreferencesModel
    /// The items.
    public let vault: VaultModel
    /// The security settings.
    public let settings: SecuritySettingsModel
    /// Self-destruct.
    public let selfDestruct: SelfDestructModel
    /// The security log.
    public let log: SecurityLogModel
    /// The identity.
    public let identity: IdentityModel
    /// What protects the vault on this machine.
    public let doctor: DoctorModel

    /// The models over one app.
    /// - Parameter face: Names the face, for its preferences.
    public convenience init(_ app: HoldfastApp, face: String) { self.init(app, face: face) { IdentityModel($0) } }

    package init(_ app: HoldfastApp, face: String, identity: @MainActor (LockModel) -> IdentityModel) {
        let lock = LockModel(app)
        self.lock = lock
        scenes = ScenePresence(lock)
        preferences = PreferencesModel(app.vault, face: face)
        cover = PrivacyCover(lock, preferences)
        vault = VaultModel(lock)
        settings = SecuritySettingsModel(app)
        selfDestruct = SelfDestructModel(app)
        log = SecurityLogModel(lock)
        self.identity = identity(lock)
        doctor = DoctorModel(home: app.vault.home.path)
        settings.onPIN = { [weak lock] in await lock?.pinWasSet() }
        lock.onLock { [weak vault, weak settings, weak selfDestruct, weak log, weak doctor] in
            vault?.drop()
            settings?.drop()
            selfDestruct?.drop()
            log?.drop()
            doctor?.drop()
        }
    }

    /// Reads what the screens show; called when the lock opened.
    public func load() async {
        await preferences.load()
        await settings.load()
        await selfDestruct.load()
        await vault.load()
        await identity.load()
    }
}
