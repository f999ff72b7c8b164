internal import AppLockCore
internal import DeviceOwner
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// What the user gave the agent to open the vault with.
enum UnlockAnswer: Sendable {
    case secret(UnlockSecret, Body)
    /// The finger was recognised.
    case owner(OwnerReleaseBox)
}

/// How asking for a secret ended.
enum PromptEntry: Sendable {
    case entered(Body)
    case ended(PromptAnswer)
}

/// A question and where it is asked. Used by the thread that asks it.
struct AskedQuestion: Sendable {
    private let question: Question
    private let pinentry: PinentryPrompt
    private let terminal: UInt32?
    /// A terminal that is told why nobody was asked, and is never asked on.
    private let teller: UInt32?
    private let patience: UInt64
    private let cancellation: Cancellation
    /// Takes a finger in place of the passcode, once the user has said so here; nil where it is not offered.
    private let authenticator: OwnerAuthenticator?

    init(
        _ prompt: PromptQueue.Prompt, _ pinentry: PinentryPrompt, _ patience: UInt64, _ cancellation: Cancellation,
        telling teller: UInt32? = nil, taking authenticator: OwnerAuthenticator? = nil
    ) {
        question = prompt.question
        let process = question.process
        self.teller = teller.flatMap { PromptPlace.isOne($0, of: process) ? $0 : nil }
        self.pinentry = pinentry
        self.patience = patience
        self.cancellation = cancellation
        self.authenticator = authenticator
        if case .terminal(let device) = prompt.place, PromptPlace.isOne(device, of: process) {
            terminal = device
        } else {
            terminal = nil
        }
    }

    private static let nobody = PromptAnswer.nowhere(
        "you cannot be asked: there is neither a terminal nor a display")

    private static let noDisplay = PromptAnswer.nowhere(
        "another host's request is asked for on a display only, and there is none")

    /// Whether the system's own pinentry can show something. It gets no terminal: a program has that one for itself.
    private var hasDisplay: Bool { !pinentry.display.isEmpty || !pinentry.waylandDisplay.isEmpty }

    /// Asks for a yes.
    func ask() -> PromptAnswer {
        let answer = askSomewhere()
        if let reason = answer.reason, let teller {
            TerminalPrompt.tell("\(question.request) It was refused: \(reason)", on: teller, cancellation)
        }
        return answer
    }

    private func askSomewhere() -> PromptAnswer {
        guard pinentry.program == nil else {
            return pinentry.ask(question, on: terminal, patience: patience, cancellation)
        }
        if let terminal,
            let answer = TerminalPrompt.ask(question, on: terminal, patience: patience, cancellation)
        {
            return answer
        }
        guard hasDisplay else { return question.isForwarded ? AskedQuestion.noDisplay : AskedQuestion.nobody }
        return pinentry.ask(question, on: nil, patience: patience, cancellation)
    }

    /// Asks for what opens the vault: the PIN where it has one for this machine's chip, else the passcode. Nobody is
    /// asked for a secret that the vault would refuse unseen. A finger is asked for only when the user has left the
    /// passcode empty: a program could ask just when the user expects the finger to be wanted elsewhere.
    func askForSecret(of vault: Vault) -> (PromptAnswer, UnlockAnswer?) {
        let status: Vault.Status
        do throws(VaultError) { status = try vault.status() } catch { return (.closed(error.reason), nil) }
        guard status.slots.contains(.passcode) || status.hasPIN else {
            return (.closed("it has no passcode and no PIN"), nil)
        }
        guard !status.isPasscodeClosed else { return (refuse("no attempts are left"), nil) }
        // The last one is not for a question that comes unexpected: a slip may destroy the vault.
        guard status.remainingAttempts > 1 else { return tooFew }
        if let delay = status.retryAfter {
            let seconds = (delay + .milliseconds(999)).components.seconds
            return (refuse("too many wrong passcodes; try again in \(AskedQuestion.words(seconds))"), nil)
        }
        // The chip has a count of its own, which only a right one sets back.
        func isLast(_ kind: SlotKind) -> Bool { vault.remainingAtChip(kind).map { $0 <= 1 } ?? false }
        if status.pinAssurance != nil, !isLast(.pin) {
            let (answer, secret) = enter(.pin, "PIN (press Enter to use the passcode):", question)
            guard answer == .allowed, secret == nil else { return (answer, secret) }
        }
        guard !isLast(.passcode) else { return tooFew }
        guard let authenticator, isOffered(.biometrics, authenticator, vault) else { return enterPasscode(question) }
        let (answer, secret) = enter(.passcode, "Passcode (leave empty to use your finger):", question)
        guard answer == .allowed, secret == nil else { return (answer, secret) }
        do throws(VaultError) {
            let talk = QuestionTalk(cancellation, terminal)
            let end = terminal == nil ? nil : question.endBehind(cancellation)
            defer { end?.cancel() }
            return (.allowed, .owner(OwnerReleaseBox(try vault.confirmOwner(.biometrics, by: authenticator, talk))))
        } catch {
            guard !cancellation.isCancelled else { return (.unanswered(error.reason), nil) }
            return enterPasscode(question.after(error.reason))
        }
    }

    /// An empty one is a no.
    private func enterPasscode(_ question: Question) -> (PromptAnswer, UnlockAnswer?) {
        let (answer, secret) = enter(.passcode, "Passcode:", question)
        return answer == .allowed && secret == nil ? (.refused, nil) : (answer, secret)
    }

    private func isOffered(_ step: OwnerStep, _ authenticator: OwnerAuthenticator, _ vault: Vault) -> Bool {
        let obstacle: VaultError?
        do throws(VaultError) { obstacle = try vault.ownerObstacle(step) } catch { return false }
        guard obstacle == nil, case .available = authenticator.capability(of: step) else { return false }
        return true
    }

    /// Seconds, or whole minutes where there are many.
    static func words(_ seconds: Int64) -> String { seconds <= 120 ? "\(seconds) s" : "\((seconds + 59) / 60) min" }

    private var tooFew: (PromptAnswer, UnlockAnswer?) {
        (refuse("there are too few attempts left to ask for a program"), nil)
    }

    private func refuse(_ reason: String) -> PromptAnswer {
        tell(reason)
        return .closed(reason)
    }

    /// Says why nobody is asked, where the user would have been: the program that asked is told nothing.
    private func tell(_ reason: String) {
        guard pinentry.program == nil, let terminal else { return }
        TerminalPrompt.tell("\(question.request) \(reason)", on: terminal, cancellation)
    }

    /// - Returns: No secret where nothing was entered.
    private func enter(
        _ kind: UnlockSecret, _ field: String, _ question: Question
    ) -> (PromptAnswer, UnlockAnswer?) {
        var entry: PromptEntry?
        let isShared = terminal.map { question.isShared(on: $0) } ?? false
        if pinentry.program == nil, !isShared, let terminal {
            entry = TerminalPrompt.enter(question, field, on: terminal, patience: patience, cancellation)
        }
        if entry == nil, pinentry.program != nil || hasDisplay {
            let place = pinentry.program == nil || isShared ? nil : terminal
            entry = pinentry.enter(question, field, on: place, patience: patience, cancellation)
        }
        switch entry {
        case nil where isShared:
            tell(TerminalReaders.words)
            return (.nowhere(TerminalReaders.words), nil)
        case nil: return (.nowhere("there is no terminal and no display to ask for the passcode on"), nil)
        case .ended(let answer): return (answer, nil)
        case .entered(let body):
            let isEmpty = !UnlockSecret.sizes.contains(body.bytes.count)
            return (.allowed, isEmpty ? nil : .secret(kind, body))
        }
    }
}

/// What the user sees while the sensor looks: a line on the terminal where the question was asked there. The question
/// has said that the finger is wanted.
final class QuestionTalk: OwnerConversation {
    let cancellation: Cancellation
    private let terminal: UInt32?

    init(_ cancellation: Cancellation, _ terminal: UInt32?) {
        self.cancellation = cancellation
        self.terminal = terminal
    }

    func show(_ guidance: OwnerGuidance) {
        guard guidance == .touch, let terminal else { return }
        TerminalPrompt.tell("Touch the fingerprint sensor.", on: terminal, cancellation)
    }

    func expect(_ finger: OwnerFinger) {}

    func ask(_ prompt: OwnerPrompt) -> SecretBytes? { nil }
}
