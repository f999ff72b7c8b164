public import Holdfast
public import Observation

/// The first run: a passcode, the recovery phrase with a check, and the app lock.
@MainActor @Observable
public final class SetupModel {
    /// Where the assistant is.
    public enum Step: Sendable, Hashable {
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
        /// Whether the app lock goes on.
        case protection
        /// The vault is opened for the first time.
        case opening
        /// The vault is there and open.
        case finished
    }

    /// Where the assistant is.
    public private(set) var step = Step.welcome
    /// How strong the passcode is that is being typed.
    public private(set) var strength: PasscodeStrength?
    /// What went wrong last.
    public private(set) var problem: VaultProblem?
    /// The places of the words that the check asks for, counted from 1.
    public private(set) var positions: [Int] = []
    /// Whether the app lock is switched on at the end.
    public var enablesLock = true
    /// The app, once ``step`` is ``Step/finished``.
    public private(set) var app: HoldfastApp?

    /// The folder of the new vault.
    public let path: String
    @ObservationIgnored private var passcode: SecretBytes?
    @ObservationIgnored private var check: PhraseCheck?
    @ObservationIgnored private let create: Create

    /// Makes a vault; a parameter so that tests need not calibrate.
    typealias Create = @Sendable (String, borrowing SecretBytes) throws(VaultError) -> RecoveryPhrase
    typealias Open = @Sendable (String) throws(VaultError) -> HoldfastApp
    @ObservationIgnored private let open: Open

    /// - Parameter path: A folder that does not exist or is empty.
    public convenience init(at path: String) {
        self.init(
            at: path,
            create: { (path, passcode) throws(VaultError) in try HoldfastApp.create(at: path, passcode: passcode) },
            open: { path throws(VaultError) in try HoldfastApp(at: path) })
    }

    package init(
        at path: String,
        create: @escaping @Sendable (String, borrowing SecretBytes) throws(VaultError) -> RecoveryPhrase,
        open: @escaping @Sendable (String) throws(VaultError) -> HoldfastApp
    ) {
        self.path = path
        self.create = create
        self.open = open
    }

    /// The owner has read what this is.
    public func begin() {
        guard step == .welcome else { return }
        step = .passcode
    }

    /// Estimates what is being typed.
    public func estimate(_ passcode: RawSpan) {
        let next = PasscodeStrength(of: passcode)
        if next != strength { strength = next }
    }

    /// Takes the passcode and makes the vault.
    public func choose(passcode: consuming SecretBytes, repeated: consuming SecretBytes) async {
        guard step == .passcode else { return }
        guard passcode.isEqual(to: repeated) else { return problem = .passcodesDiffer }
        guard passcode.count > 0 else { return problem = .invalidPasscode }
        problem = nil
        step = .creating
        do throws(VaultError) {
            let phrase = try await SetupModel.create(path, passcode, create)
            let check = PhraseCheck(phrase)
            positions = check.positions
            self.check = consume check
            self.passcode = consume passcode
            step = .phrase
        } catch {
            problem = VaultProblem(error)
            step = .passcode
        }
    }

    /// Lends the words of the phrase while they are shown; nil otherwise.
    public func withPhrase<R>(_ body: (RawSpan) -> R) -> R? {
        guard step == .phrase else { return nil }
        switch check {
        case .none: return nil
        case .some(let check): return check.withText { body($0) }
        }
    }

    /// The owner says that the words are on paper.
    public func phraseIsWritten() {
        guard step == .phrase else { return }
        step = .check
    }

    /// The owner wants to see the words again.
    public func showPhraseAgain() {
        guard step == .check else { return }
        step = .phrase
    }

    /// Compares one of the words that are asked for.
    /// - Returns: Whether it is right.
    @discardableResult
    public func answer(_ word: RawSpan, at position: Int) -> Bool {
        guard step == .check, var current = check.take() else { return false }
        let isRight = current.answer(word, at: position)
        check = consume current
        return isRight
    }

    /// The words were typed: goes on when all are right.
    /// - Returns: Whether they are.
    public func finishCheck() -> Bool {
        guard step == .check else { return false }
        let isPassed =
            switch check {
            case .none: false
            case .some(let check): check.isPassed
            }
        guard isPassed else { return false }
        check = nil  // the words are needed no more
        step = .protection
        return true
    }

    /// Opens the vault for the first time, and switches the app lock on where that is wanted.
    public func finish() async {
        guard step == .protection, let passcode = passcode.take() else { return }
        step = .opening
        problem = nil
        do throws(VaultError) {
            let app = try open(path)
            await app.lock.handle(.launch)
            await app.lock.handle(.didBecomeActive)
            try await app.lock.unlock(passcode: passcode)
            if enablesLock { try await app.lock.setEnabled(true, passcode: passcode) }
            self.app = app
        } catch { problem = VaultProblem(error) }
        // The vault is there whatever went wrong on the way: its lock screen says the rest.
        step = .finished
    }

    @concurrent
    private nonisolated static func create(
        _ path: String, _ passcode: borrowing SecretBytes, _ create: Create
    ) async throws(VaultError) -> RecoveryPhrase {
        try create(path, passcode)
    }
}
