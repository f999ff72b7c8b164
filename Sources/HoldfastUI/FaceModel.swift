public import Holdfast
public import Observation
internal import SystemCalls

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

    /// What an app does once its vault was destroyed.
    public enum Ending: Sendable, Hashable {
        /// It shows that it was destroyed, and leads nowhere.
        case message
        /// The process ends at once. The next start shows the same.
        case exit
    }

    /// What the app gives to its vault, the same at each start.
    public struct Options: Sendable {
        /// What of the app is destroyed together with the vault.
        public var wipeTargets: [any WipeTarget] = []
        /// What an unlock must prove at least for a collection, whatever the vault's own rules say.
        public var minima: [String: Assurance] = [:]
        /// What locks at once, whatever the timing.
        public var triggers = LockTriggers.standard
        /// What the app does once its vault was destroyed.
        public var ending = Ending.message

        /// Nothing beside the vault, and a message at the end.
        public init() {}
    }

    /// What there is to show.
    public private(set) var phase: Phase

    /// The vault's folder.
    public let path: String
    @ObservationIgnored private let face: String
    @ObservationIgnored private let open: SetupModel.Open
    @ObservationIgnored private let ending: Ending
    @ObservationIgnored private let leave: @MainActor () -> Void

    /// - Parameters:
    ///   - path: The vault's folder.
    ///   - face: Names the face, for its preferences: `desktop`, `ios`.
    ///   - options: What the app gives to its vault.
    public convenience init(at path: String, face: String, _ options: Options = Options()) {
        self.init(at: path, face: face, ending: options.ending) { path throws(VaultError) in
            try HoldfastApp(
                at: path, triggers: options.triggers, minima: options.minima, wipeTargets: options.wipeTargets)
        }
    }

    package init(
        at path: String, face: String, ending: Ending = .message,
        leave: @escaping @MainActor () -> Void = { exit(0) },
        open: @escaping @Sendable (String) throws(VaultError) -> HoldfastApp
    ) {
        self.path = path
        self.face = face
        self.open = open
        self.ending = ending
        self.leave = leave
        phase = .failed(.noVault)
        load()
    }

    /// Looks at the folder again.
    public func load() {
        do throws(VaultError) {
            let models = AppModels(try open(path), face: face)
            models.lock.send(.launch)
            ready(models)
        } catch {
            switch error.code {
            case .noVault: phase = .setup(SetupModel(at: path, open: open))
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
        ready(models)
    }

    private func ready(_ models: AppModels) {
        models.lock.onWiped { [weak self] in self?.noteDestroyed() }
        phase = .ready(models)
    }

    /// The vault behind the models is no more.
    public func noteDestroyed() {
        if case .destroyed = phase { return }
        phase = .destroyed(receiptPath: receiptPath)
        if ending == .exit { leave() }
    }

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
