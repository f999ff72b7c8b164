internal import DeviceOwner
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage

/// A secret that the user entered for the agent.
struct EnteredSecret: Sendable {
    let kind: UnlockSecret
    let body: Body
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

    init(
        _ prompt: PromptQueue.Prompt, _ pinentry: PinentryPrompt, _ patience: UInt64, _ cancellation: Cancellation,
        telling teller: UInt32? = nil
    ) {
        question = prompt.question
        self.teller = teller
        self.pinentry = pinentry
        self.patience = patience
        self.cancellation = cancellation
        if case .terminal(let device) = prompt.place { terminal = device } else { terminal = nil }
    }

    private static let nobody = PromptAnswer.unanswered(
        "you cannot be asked: there is neither a terminal nor a display")

    private static let noDisplay = PromptAnswer.unanswered(
        "another host's request is asked for on a display only, and there is none")

    /// Whether the system's own pinentry can show something. It gets no terminal: a program has that one for itself.
    private var hasDisplay: Bool { !pinentry.display.isEmpty || !pinentry.waylandDisplay.isEmpty }

    /// Asks for a yes.
    func ask() -> PromptAnswer {
        let answer = askSomewhere()
        if case .unanswered(let reason) = answer, let teller {
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
    /// asked for a secret that the vault would refuse unseen.
    func askForSecret(of vault: Vault) -> (PromptAnswer, EnteredSecret?) {
        let status: Vault.Status
        do throws(VaultError) { status = try vault.status() } catch { return (.unanswered(error.reason), nil) }
        guard !status.isPasscodeClosed else { return (refuse("no attempts are left"), nil) }
        if let delay = status.retryAfter {
            let seconds = (delay + .milliseconds(999)).components.seconds
            return (refuse("too many wrong passcodes; try again in \(AskedQuestion.words(seconds))"), nil)
        }
        if status.pinAssurance != nil, vault.remainingAtChip(.pin) != 0 {
            let (answer, secret) = askForSecret(.pin)
            guard answer == .allowed else { return (answer, nil) }
            if let secret { return (answer, secret) }
        }
        let (answer, secret) = askForSecret(.passcode)
        return answer == .allowed && secret == nil ? (.refused, nil) : (answer, secret)
    }

    /// Seconds, or whole minutes where there are many.
    static func words(_ seconds: Int64) -> String { seconds <= 120 ? "\(seconds) s" : "\((seconds + 59) / 60) min" }

    /// Says why nobody is asked, where the user would have been: the program that asked is told nothing.
    private func refuse(_ reason: String) -> PromptAnswer {
        if pinentry.program == nil, let terminal {
            TerminalPrompt.tell("\(question.request) \(reason)", on: terminal, cancellation)
        }
        return .unanswered(reason)
    }

    /// - Returns: No secret where nothing was entered.
    private func askForSecret(_ kind: UnlockSecret) -> (PromptAnswer, EnteredSecret?) {
        let field = kind == .pin ? "PIN (press Enter to use the passcode):" : "Passcode:"
        var entry: PromptEntry?
        if pinentry.program == nil, let terminal {
            entry = TerminalPrompt.enter(question, field, on: terminal, patience: patience, cancellation)
        }
        if entry == nil, pinentry.program != nil || hasDisplay {
            let place = pinentry.program == nil ? nil : terminal
            entry = pinentry.enter(question, field, on: place, patience: patience, cancellation)
        }
        switch entry {
        case nil: return (AskedQuestion.nobody, nil)
        case .ended(let answer): return (answer, nil)
        case .entered(let body):
            let isEmpty = !UnlockSecret.sizes.contains(body.bytes.count)
            return (.allowed, isEmpty ? nil : EnteredSecret(kind: kind, body: body))
        }
    }
}
