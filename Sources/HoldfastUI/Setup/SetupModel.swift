package import Holdfast
internal import Observation

/// The first run: a passcode, the recovery phrase with a check, the app lock, and what the machine has beside: a
/// security chip, a fingerprint sensor.
@MainActor @Observable
package final class SetupModel {
    /// Where the assistant is.
    package enum Step: Sendable, Hashable {
        /// What this is.
        case welcome
        /// A passcode is chosen.
        case passcode
        /// The vault is being made; a second or two.
        case creating
        /// The 24 words are shown.
        case phrase
        /// Three of them are asked for.
        case check
        /// The user was away: the assistant asks for the passcode before it continues.
        case resume
        /// Whether the app lock will be turned on.
        case protection
        /// The vault is opened for the first time.
        case opening
        /// Whether the passcode goes under the machine's security chip; only where there is one.
        case chip
        /// Whether a finger opens the vault too; only where there is a sensor that knows one.
        case fingerprint
        /// The vault is there and open.
        case finished
    }

    /// What a machine may have.
    package enum Part: Sendable, Hashable {
        case chip, fingerprint
    }

    /// Where the assistant is.
    package internal(set) var step = Step.welcome
    /// How strong the passcode is that is being typed.
    package internal(set) var strength: PasscodeStrength?
    /// What went wrong last.
    package internal(set) var problem: VaultProblem?
    /// The places of the words that the check asks for, counted from 1.
    package private(set) var positions: [Int] = []
    /// Whether the app lock is switched on at the end; off unless the user wants it.
    package var enablesLock = false
    /// Whether something is being checked, or the system is asking its owner.
    package internal(set) var isBusy = false
    /// Whether the words were on paper before the user was away. Else others are shown, and only those count.
    package internal(set) var isPhraseChecked = false
    /// Whether a vault can begin without a passcode: this machine has a key store for it. Known after ``look()``.
    package internal(set) var canBeginWithoutPasscode = false
    /// How often the user was away: work that began before is no longer shown.
    @ObservationIgnored var absences = 0
    /// What the system says and asks while a finger proves itself.
    package let dialog = OwnerDialog()
    /// The app, once it was opened.
    package internal(set) var app: HoldfastApp?

    /// The folder of the new vault.
    package let path: String
    @ObservationIgnored var passcode: SecretBytes?
    @ObservationIgnored var check: PhraseCheck?
    /// Kept for as long as the chip may want it.
    @ObservationIgnored var phrase: RecoveryPhrase?
    @ObservationIgnored var left: [Step] = []
    /// The chip is offered after the user has shown to have the words; after an absence there are none to compare with.
    @ObservationIgnored var offersChip = true
    /// How the user left.
    @ObservationIgnored var lastEvent = LockEvent.systemLocked
    @ObservationIgnored private let create: Create
    @ObservationIgnored private let look: Look
    @ObservationIgnored let unasked: Unasked

    /// Makes a vault; a parameter so that tests need not calibrate.
    typealias Create = @Sendable (String, borrowing SecretBytes) throws(VaultError) -> RecoveryPhrase
    typealias Open = @Sendable (String) throws(VaultError) -> HoldfastApp
    package typealias Look = @Sendable (HoldfastApp) async -> Set<Part>
    @ObservationIgnored let open: Open

    /// How a vault begins without a passcode; a parameter so that tests bring their own key stores.
    package struct Unasked: Sendable {
        let isPossible: @Sendable (String) async -> Bool
        let create: @Sendable (String) async throws(VaultError) -> Void

        package init(
            isPossible: @escaping @Sendable (String) async -> Bool,
            create: @escaping @Sendable (String) async throws(VaultError) -> Void
        ) {
            (self.isPossible, self.create) = (isPossible, create)
        }

        static let standard = Unasked(
            isPossible: HoldfastApp.canBeginWithoutAsking,
            create: { path throws(VaultError) in try await HoldfastApp.createWithoutAsking(path) })
    }

    /// - Parameter path: A folder that does not exist or is empty.
    package convenience init(at path: String) {
        self.init(at: path, open: { path throws(VaultError) in try HoldfastApp(at: path) })
    }

    /// - Parameter open: Opens the new vault with what the app gives to it.
    convenience init(at path: String, open: @escaping Open) {
        self.init(
            at: path,
            create: { (path, passcode) throws(VaultError) in try HoldfastApp.create(at: path, passcode: passcode) },
            open: open, look: SetupModel.look)
    }

    package init(
        at path: String,
        create: @escaping @Sendable (String, borrowing SecretBytes) throws(VaultError) -> RecoveryPhrase,
        open: @escaping @Sendable (String) throws(VaultError) -> HoldfastApp,
        look: @escaping Look = { _ in [] }, unasked: Unasked = .standard
    ) {
        self.path = path
        self.unasked = unasked
        self.create = create
        self.open = open
        self.look = look
    }

    /// The user has read the introduction.
    package func begin() {
        guard step == .welcome else { return }
        problem = nil
        step = .passcode
    }

    /// Estimates what is being typed.
    package func estimate(_ passcode: RawSpan) {
        let next = PasscodeStrength(of: passcode)
        if next != strength { strength = next }
    }

    /// Accepts the passcode and creates the vault.
    /// - Parameters:
    ///   - passcode: As it was typed.
    ///   - repeated: As it was typed again.
    ///   - takesWeak: Whether the user insists on a passcode that is guessed at once.
    package func choose(
        passcode: consuming SecretBytes, repeated: consuming SecretBytes, takingWeak takesWeak: Bool = false
    ) async {
        guard step == .passcode else { return }
        guard passcode.isEqual(to: repeated) else { return problem = .passcodesDiffer }
        guard passcode.count > 0 else { return problem = .invalidPasscode }
        problem = PasscodeFloor.problem(of: passcode, takingWeak: takesWeak)
        guard problem == nil else { return }
        step = .creating
        let began = absences
        do throws(VaultError) {
            let phrase = try await SetupModel.create(path, passcode, create)
            guard began == absences else { return step = .resume }
            show(phrase, passcode)
        } catch {
            problem = VaultProblem(error)
            step = .passcode
        }
    }

    /// The words are to be written down.
    func show(_ phrase: consuming RecoveryPhrase, _ passcode: consuming SecretBytes) {
        let check = PhraseCheck(phrase)
        positions = check.positions
        self.check = consume check
        self.passcode = consume passcode
        step = .phrase
    }

    /// Lends the words of the phrase while they are shown; nil otherwise.
    package func withPhrase<R>(_ body: (RawSpan) -> R) -> R? {
        guard step == .phrase else { return nil }
        switch check {
        case .none: return nil
        case .some(let check): return check.withText { body($0) }
        }
    }

    /// The user confirms having written the words down.
    package func phraseIsWritten() {
        guard step == .phrase else { return }
        step = .check
    }

    /// The user wants to see the words again.
    package func showPhraseAgain() {
        guard step == .check else { return }
        step = .phrase
    }

    /// Compares one of the words that are asked for.
    /// - Returns: Whether it is right.
    @discardableResult
    package func answer(_ word: RawSpan, at position: Int) -> Bool {
        guard step == .check, var current = check.take() else { return false }
        let isRight = current.answer(word, at: position)
        check = consume current
        return isRight
    }

    /// The words were typed: continues if all are correct.
    /// - Returns: Whether they are.
    package func finishCheck() -> Bool {
        guard step == .check else { return false }
        guard let current = check.take() else { return false }
        guard current.isPassed else {
            check = consume current
            return false
        }
        phrase = current.end()
        isPhraseChecked = true
        step = .protection
        return true
    }

    /// Opens the vault for the first time, and switches the app lock on where that is wanted. Continues with what the
    /// machine has.
    package func finish() async {
        guard step == .protection, let passcode = passcode.take() else { return }
        step = .opening
        problem = nil
        let began = absences
        do throws(VaultError) {
            let app = try open(path)
            await app.lock.handle(.launch)
            await app.lock.handle(.didBecomeActive)
            try await app.lock.unlock(.passcode, passcode)
            if enablesLock { try await app.lock.setEnabled(true, passcode: passcode) }
            self.app = app
        } catch { problem = VaultProblem(error) }
        if let app, problem == nil {
            let parts = await look(app)
            left =
                (offersChip && parts.contains(.chip) ? [.chip] : [])
                + (parts.contains(.fingerprint) ? [.fingerprint] : [])
        }
        guard began == absences else { return await lockAndFinish() }
        self.passcode = consume passcode
        // The vault is there whatever went wrong on the way: its lock screen says the rest.
        advance()
    }

    @concurrent
    private nonisolated static func create(
        _ path: String, _ passcode: borrowing SecretBytes, _ create: Create
    ) async throws(VaultError) -> RecoveryPhrase {
        try create(path, passcode)
    }
}
