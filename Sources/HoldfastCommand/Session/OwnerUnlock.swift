internal import AgentMessages
internal import CommandLineArguments
internal import DeviceOwner
internal import Holdfast
internal import HoldfastAgent

/// The steps of the rules that need no secret of the vault's: the agent asks the system for its owner.
enum OwnerUnlock {
    /// How it ended.
    enum Ending {
        /// Unlocked; milliseconds until it locks automatically.
        case opened(UInt64?)
        /// The vault's own passcode is what the rules ask for next. Whether the owner was asked before: time has passed
        /// then.
        case passcode(afterAsking: Bool)
    }

    /// Goes through the chain until the vault is open or its passcode is asked for.
    /// - Throws: Why nothing is asked any more; what the owner refused ends it.
    static func run(
        _ arguments: Arguments, _ status: Vault.Status, _ agent: UnlockingAgent
    ) throws(CommandError) -> Ending {
        // Without an agent nothing is kept that an owner could be given.
        let known = try vaultCall { try agent.ifRunning { try? $0.owner() } ?? nil }
        guard let known, known.expiry == nil else { return .passcode(afterAsking: false) }
        let facts = OwnerFacts(arguments, for: status.policy)
        var outcomes: [FallbackFacts.Asked] = []
        // Each step is asked twice at most: a policy names five.
        for _ in 0..<10 {
            switch facts.decision(status, outcomes).action {
            case .ask(.biometrics):
                if let opened = try ask(.biometrics, agent, arguments, &outcomes) { return opened }
            case .ask(.devicePasscode):
                if let opened = try ask(.devicePasscode, agent, arguments, &outcomes) {
                    return opened
                }
            case .ask(.appPasscode): return .passcode(afterAsking: !outcomes.isEmpty)
            case .ask(.recoveryPhrase):
                throw CommandError.failure(.passcodeNeeded, "the policy requires the recovery phrase now (--phrase)")
            case .ask(.openCompartment), .useOpenCompartment:
                throw CommandError(
                    .notAllowed, code: .locked, "the policy allows only the open compartment now (--open)")
            case .stop(let stop): throw CommandError(.notAllowed, code: .locked, "\(stop)")
            }
        }
        return .passcode(afterAsking: true)
    }

    private static func ask(
        _ step: OwnerStep, _ agent: UnlockingAgent, _ arguments: Arguments,
        _ outcomes: inout [FallbackFacts.Asked]
    ) throws(CommandError) -> Ending? {
        let (idle, timeout) = (arguments[Options.idle].map(UInt32.init), arguments[Options.timeout].map(UInt32.init))
        do {
            return .opened(
                try agent.use { client in
                    try client.confirm(
                        step, idle: idle, timeout: timeout,
                        AgentClient.Conversation(show: { show($0) }, ask: { try answer($0) }))
                })
        } catch {
            let error = CommandError(error)
            guard let outcome = outcome(error.code, step) else { throw error }
            Output.note(error.message)
            outcomes.append(.init(step.fallback, outcome))
            return nil
        }
    }

    /// What an error means for the fallback chain; nil if the code is not an outcome of the chain.
    private static func outcome(_ code: CommandError.Code, _ step: OwnerStep) -> StepOutcome? {
        switch code {
        case .notConfirmed: step == .biometrics ? .biometricFailed : .wrongSecret
        case .cancelled: .cancelled
        case .timedOut, .ownerUnavailable, .passcodeNeeded, .hardwareUnavailable, .shareUnavailable: .unavailable
        case .ownerNotEnrolled: .notEnrolled
        case .ownerLockedOut: .systemLockout
        case .ownerBusy, .busy: .hardwareBusy
        default: nil
        }
    }

    private static func show(_ guidance: OwnerGuidance) {
        switch guidance {
        case .touch: Output.remark("Touch the fingerprint sensor (or use --passcode).")
        case .retry: Output.remark("Not read. Try again.")
        case .tooShort: Output.remark("Too short. Try again.")
        case .notCentred: Output.remark("Centre your finger on the sensor.")
        case .removeAndRetry: Output.remark("Lift your finger and try again.")
        case .noMatch: Output.remark("Not recognised. Try again.")
        case .checking: Output.remark("Checking ...")
        }
    }

    /// On the terminal only: an account's passcode comes from nowhere else.
    private static func answer(_ prompt: OwnerPrompt) throws -> SecretBytes? {
        let text = Escaping.sentence(prompt.text)
        guard prompt.needsAnswer else {
            Output.remark(text)
            return nil
        }
        guard let terminal = Terminal() else { return nil }
        if case .shown = prompt {
            let typed = Array(try terminal.readAnswer(prompt: "Account: \(text)").utf8)
            return try unsafe SecretBytes(copying: typed.span.bytes)
        }
        return try terminal.readSecret(prompt: "Account: \(text)", capacity: SecretInput.longestPasscode)
    }
}
