public import Holdfast
public import Observation
internal import SystemCalls

/// Everything an app shows, from the first run to the end of the vault.
@MainActor @Observable
public final class AppModel {
    /// What there is to show.
    package enum Phase {
        /// The vault is being opened, or made: a moment, in which the key store is asked.
        case opening
        /// There is no vault yet, and the assistant makes one (``Beginning/assistant``).
        case setup(SetupModel)
        /// There is one.
        case ready(ReadyModels)
        /// There is none to open, or nobody can tell now; what its user can do.
        case stopped(StopModel)
        /// It was destroyed; where the receipt lies. ``AppModel/offersNewVault`` says whether it leads anywhere.
        case destroyed(receiptPath: String)
        /// It cannot be used.
        case failed(VaultProblem)
    }

    /// How a first start begins.
    public enum Beginning: Sendable, Hashable {
        /// With the vault, at once and without asking anything: it opens with a share in the device's key store. Its
        /// user makes it ask for more in the settings.
        case atOnce
        /// With an assistant: a passcode, and 24 words to write down.
        case assistant
    }

    /// What an app does once its vault was destroyed.
    public enum Ending: Sendable, Hashable {
        /// It shows that it was destroyed, and leads nowhere.
        case message
        /// As ``message``, with a way to begin a new vault. Whoever holds the device sees an app that
        /// can be used again.
        case startOver
        /// The process ends at once. The next start shows the same.
        case exit
    }

    /// What the app gives to its vault, the same at each start.
    public struct Options: Sendable {
        /// How a first start begins.
        public var beginning = Beginning.atOnce
        /// Tells the vaults of one app apart where the device remembers them; 1 to 64 bytes, and never a path.
        public var profile = "default"
        /// From when on the share is there. Only Apple's systems know the difference.
        public var share = HoldfastApp.ShareTime.whileUnlocked
        /// Where the share is kept.
        public var stores = HoldfastApp.Stores.system
        /// What of the app is destroyed together with the vault.
        public var wipeTargets: [any WipeTarget] = []
        /// What an unlock must prove at least for a collection, whatever the vault's own rules say.
        public var minima: [String: Assurance] = [:]
        /// What locks at once, whatever the timing.
        public var triggers = LockTriggers.standard
        /// Why the lock screen asks the device's owner, in the user's language, where the system's own prompt shows
        /// that; nil for the words of the views, or without them for the app's text `holdfast.owner.reason`. Other
        /// prompts have `dialog.reason` of their models.
        public var reason: String?
        /// What the app does once its vault was destroyed.
        public var ending = Ending.message
        /// Whether the system's backups have the vault: it opens from one on the same device, and elsewhere with a
        /// passcode or the 24 words. Only Apple's systems know the difference.
        public var isInSystemBackups = true

        /// Nothing beside the vault, and a message at the end.
        public init() {}
    }

    /// What there is to show.
    package private(set) var phase: Phase

    /// The models of the vault, once there is one and it was opened; its lock may be shut.
    public var models: ReadyModels? { if case .ready(let models) = phase { models } else { nil } }

    /// Why there is no vault to open on this device, or nobody can tell now, and what its user can do.
    public var stop: StopModel? { if case .stopped(let stop) = phase { stop } else { nil } }

    /// Whether the vault is still being opened, or made.
    public var isOpening: Bool { if case .opening = phase { true } else { false } }

    /// The vault's folder.
    package let path: String
    @ObservationIgnored private let interface: String
    @ObservationIgnored private let way: Way
    @ObservationIgnored private let beginnings: Beginnings?
    @ObservationIgnored private let ending: Ending
    @ObservationIgnored private let reason: String?
    @ObservationIgnored private let leave: @MainActor () -> Void
    @ObservationIgnored private var opening: Task<Void, Never>?

    /// How a vault is opened and begun; a parameter so that tests bring their own key stores and owners.
    package enum Way: Sendable {
        /// Without a question: opens or makes the vault; puts it aside and makes another one.
        case atOnce(Start, over: @Sendable (String) async throws(VaultError) -> Void)
        /// Opens one that the assistant has made.
        case assistant(@Sendable (String) throws(VaultError) -> HoldfastApp)

        /// Opens the vault of this folder, or makes it.
        package typealias Start = @Sendable (String) async throws(VaultError) -> HoldfastApp
    }

    /// - Parameters:
    ///   - path: The vault's folder.
    ///   - interface: Names the user interface, for its preferences: `desktop`, `ios`.
    ///   - options: What the app gives to its vault.
    public convenience init(at path: String, interface: String, _ options: Options = Options()) {
        self.init(at: path, interface: interface, ending: options.ending, reason: options.reason, Way(options))
    }

    package convenience init(
        at path: String, interface: String, ending: Ending = .message,
        leave: @escaping @MainActor () -> Void = { endProcess(with: 0) },
        open: @escaping @Sendable (String) throws(VaultError) -> HoldfastApp
    ) {
        self.init(at: path, interface: interface, ending: ending, leave: leave, .assistant(open))
    }

    /// - Parameter beginnings: What is offered where a vault could not begin at once.
    package init(
        at path: String, interface: String, ending: Ending = .message,
        leave: @escaping @MainActor () -> Void = { endProcess(with: 0) }, reason: String? = nil,
        beginnings: Beginnings? = nil, _ way: Way
    ) {
        self.path = path
        self.interface = interface
        self.way = way
        self.beginnings = beginnings
        self.ending = ending
        self.reason = reason
        self.leave = leave
        phase = .opening
        load()
    }

    /// Looks at the folder again.
    package func load() {
        switch way {
        case .atOnce:
            guard opening == nil else { return }
            opening = Task { [weak self] in
                await self?.open()
                self?.opening = nil
            }
        case .assistant(let open):
            do throws(VaultError) {
                let models = ReadyModels(try open(path), interface: interface)
                models.lock.send(.launch)
                ready(models)
            } catch {
                if error.code == .noVault { phase = .setup(SetupModel(at: path, open: open)) } else { show(error) }
            }
        }
    }

    /// Returns when the vault was opened or made, or could not be.
    public func opened() async { await opening?.value }

    private func open() async {
        guard case .atOnce(let start, _) = way else { return }
        do throws(VaultError) {
            let models = ReadyModels(try await start(path), interface: interface)
            await models.lock.handle(.launch)
            await models.lock.refresh()
            ready(models)
        } catch { show(error) }
    }

    private func show(_ error: VaultError) {
        if error.code == .wiped {
            phase = .destroyed(receiptPath: receiptPath)
        } else if let ways = waysToBegin(error) {
            phase = .stopped(
                StopModel(
                    .notNow, until: error.until, canStartOver: false, beginnings: ways,
                    begin: { [weak self] in await self?.begin($0) }, act: { [weak self] in await self?.perform($0) }))
        } else if let reason = StopModel.Reason(error) {
            phase = .stopped(
                StopModel(reason, until: error.until, canStartOver: canStartOver) { [weak self] in
                    await self?.perform($0)
                })
        } else {
            phase = .failed(VaultProblem(error))
        }
    }

    /// What can be done where there is no vault, and no key store for one; nil where that is not what happened.
    private func waysToBegin(_ error: VaultError) -> [StopModel.Beginning]? {
        guard beginnings != nil, [.shareUnavailable, .hardwareUnavailable].contains(error.code),
            !Vault.isVault(at: path)
        else { return nil }
        // A key store that is there and has to be unlocked is no reason to do without one.
        let isAbsent = error.code == .hardwareUnavailable || error.until == .present
        return isAbsent ? [.passcode, .file] : [.passcode]
    }

    private func begin(_ beginning: StopModel.Beginning) async -> VaultProblem? {
        guard let beginnings, case .stopped = phase, opening == nil else { return .busy }
        switch beginning {
        case .passcode: phase = .setup(beginnings.assistant(path))
        case .file:
            if let error = await beginnings.inFile(path) { return VaultProblem(error) }
            load()
            await opened()
        }
        return nil
    }

    /// The user does not want the assistant, which made nothing yet: what led to it is shown again.
    package func leaveSetup() {
        guard canLeaveSetup, case .setup(let setup) = phase, setup.step == .welcome else { return }
        load()
    }

    /// Whether something else than the assistant can be done.
    package var canLeaveSetup: Bool { beginnings != nil }

    private func perform(_ remedy: StopModel.Remedy) async -> VaultProblem? {
        guard remedy == .startOver else {
            load()
            await opened()
            return nil
        }
        return await startOver()
    }

    /// Whether a vault that was destroyed can be followed by another one: the app wants it (``Ending/startOver``), and
    /// ``startOver()`` can be done.
    package var offersNewVault: Bool { ending == .startOver && canStartOver }

    /// Whether ``startOver()`` can be done: not where the assistant makes vaults.
    package var canStartOver: Bool { if case .atOnce = way { true } else { false } }

    /// Puts the folder aside, deletes nothing, and begins a new vault in its place: only when its user wants that.
    /// - Returns: Why not; nil when it was done.
    @discardableResult
    package func startOver() async -> VaultProblem? {
        guard case .atOnce(_, let over) = way, opening == nil else { return .busy }
        do throws(VaultError) { try await over(path) } catch { return VaultProblem(error) }
        load()
        await opened()
        return nil
    }

    /// The assistant is done: continues with the vault that it created.
    package func finishSetup() async {
        guard case .setup(let setup) = phase, setup.step == .finished else { return }
        guard let app = setup.app else { return load() }
        let models = ReadyModels(app, interface: interface)
        await models.lock.refresh()
        ready(models)
    }

    private func ready(_ models: ReadyModels) {
        models.lock.owner.dialog.reason = reason
        models.lock.onWiped { [weak self] in self?.noteDestroyed() }
        if canStartOver { models.lock.startsOver { [weak self] in await self?.startOver() } }
        phase = .ready(models)
    }

    /// The vault behind the models is no more.
    package func noteDestroyed() {
        if case .destroyed = phase { return }
        phase = .destroyed(receiptPath: receiptPath)
        if ending == .exit { leave() }
    }

    private var receiptPath: String { "\(path)/\(WipeReceipt.fileName)" }
}

extension AppModel.Way {
    init(_ options: AppModel.Options) {
        switch options.beginning {
        case .atOnce:
            self = .atOnce { path throws(VaultError) in
                let app = try await HoldfastApp.open(
                    path, profile: options.profile, share: options.share, stores: options.stores,
                    triggers: options.triggers, minima: options.minima, wipeTargets: options.wipeTargets)
                options.placeInBackups(path)
                return app
            } over: { path throws(VaultError) in
                _ = try await HoldfastApp.startOver(
                    path, profile: options.profile, share: options.share, stores: options.stores)
            }
        case .assistant:
            self = .assistant { path throws(VaultError) in
                let app = try HoldfastApp(
                    at: path, triggers: options.triggers, minima: options.minima, wipeTargets: options.wipeTargets)
                options.placeInBackups(path)
                return app
            }
        }
    }
}

extension AppModel.Options {
    fileprivate func placeInBackups(_ path: String) {
        #if canImport(Security)
        SystemBackups.include(path, isInSystemBackups)
        #endif
    }
}

/// The models of one open app, wired so that nothing decrypted outlives the lock.
@MainActor
public final class ReadyModels {
    /// The lock screen.
    public let lock: LockModel
    /// What hides content.
    public let cover: PrivacyCover
    /// The scenes in front of the lock.
    public let scenes: ScenePresence
    /// The choices about this user interface.
    package let preferences: PreferencesModel
    /// The items.
    package let vault: VaultModel
    /// The security settings.
    public let settings: SecuritySettingsModel
    /// How the vault is protected, and its next step.
    public let protection: ProtectionModel
    /// Self-destruct.
    public let selfDestruct: SelfDestructModel
    /// The security log.
    package let log: SecurityLogModel
    /// The identity.
    public let identity: IdentityModel
    /// What protects the vault on this machine.
    package let doctor: DoctorModel
    /// Weak, reused, old and breached passwords.
    package let health: HealthModel
    /// What the vault lacks.
    package let advice: AdviceModel
    /// The backups.
    package let backup: BackupModel
    /// The export.
    package let export: ExportModel

    private var givenTriggers: LockTriggers?

    /// The models over one app.
    /// - Parameters:
    ///   - app: What the models show and change.
    ///   - interface: Names the user interface, for its preferences.
    public convenience init(_ app: HoldfastApp, interface: String) {
        self.init(app, interface: interface) { IdentityModel($0) }
    }

    package init(_ app: HoldfastApp, interface: String, identity: @MainActor (LockModel) -> IdentityModel) {
        let lock = LockModel(app)
        self.lock = lock
        scenes = ScenePresence(lock)
        preferences = PreferencesModel(app.vault, interface: interface)
        cover = PrivacyCover(lock, preferences)
        vault = VaultModel(lock)
        settings = SecuritySettingsModel(app)
        protection = ProtectionModel(app)
        selfDestruct = SelfDestructModel(app)
        log = SecurityLogModel(lock)
        backup = BackupModel(lock)
        export = ExportModel(vault)
        self.identity = identity(lock)
        doctor = DoctorModel(home: app.vault.home.path)
        health = HealthModel(lock)
        advice = AdviceModel(lock, protection, settings, preferences, vault, backup)
        preferences.onChange = { [weak self, weak vault, lock = app.lock] values in
            vault?.order = values.order
            let given: LockTriggers
            if let known = self?.givenTriggers { given = known } else { given = await lock.snapshot.settings.triggers }
            self?.givenTriggers = given
            // Refused while the lock is shut: they are read again when it opens.
            try? await lock.setTriggers(values.triggers(given: given))
        }
        settings.onPIN = { [weak lock] in await lock?.pinWasSet() }
        settings.onChange = { [weak selfDestruct, weak protection] in
            await selfDestruct?.load()
            await protection?.load()
        }
        protection.onChange = { [weak settings, weak selfDestruct, weak lock] in
            await settings?.load()
            await selfDestruct?.load()
            await lock?.refresh()
        }
        lock.onLock { [weak vault, weak settings, weak protection, weak selfDestruct, weak log, weak doctor] in
            vault?.drop()
            settings?.drop()
            protection?.drop()
            selfDestruct?.drop()
            log?.drop()
            doctor?.drop()
        }
    }

    /// Reads what the screens show; called when the lock opened.
    public func load() async {
        await preferences.load()
        await settings.load()
        await protection.load()
        await selfDestruct.load()
        await vault.load()
        await identity.load()
        await backup.load()
    }
}
