internal import DeviceOwner
internal import ProgramProtocols
internal import Items
internal import SecretMemory
internal import VaultCore
internal import VaultHeader
internal import VaultStorage

/// Prompts: the agent itself asks for what opens the vault, and the client hears only whether it is open (Secret
/// Service API 0.2, "Prompts").
extension Agent {
    /// What a search finds in a locked vault: names and attributes are encrypted, so one object stands for whatever has
    /// the attributes.
    func answerLocked(_ question: SecretServiceAttributes, _ call: BusCall, _ kind: SecretServiceCall) {
        let path = kind == .searchItems ? SecretServicePath(answering: question) : nil
        answer(.locked(path.map { [$0.text] } ?? []), to: call, kind)
    }

    /// Objects are unlocked already, or there is a prompt for them.
    func unlock(_ paths: [String], for call: BusCall, _ endpoint: SecretServiceEndpoint) {
        let paths = paths.filter(Agent.isLockable)
        if isServingSecrets || paths.isEmpty { return Agent.answer(call, paths) }
        let number = nextConnection()
        if let old = endpoint.prompts.superfluous { endSecretPrompt(old, isDismissed: true) }
        guard endpoint.prompts.open(number, call.sender, paths) else {
            return call.fail(
                SecretServiceError.limits, "too many prompts are open, or one would be for too many objects")
        }
        guard let reply = call.reply() else { return }
        reply.paths([])
        reply.path(SecretServicePath.prompt(number).text)
        reply.send()
    }

    /// - Returns: False where an argument is wrong.
    func usePrompt(
        _ kind: SecretServiceCall, _ call: BusCall, _ path: SecretServicePath, _ endpoint: SecretServiceEndpoint
    ) -> Bool {
        guard case .prompt(let number) = path, let prompt = endpoint.prompts[number], prompt.client == call.sender
        else {
            call.fail(SecretServiceError.noSuchObject, "there is no such prompt of yours")
            return true
        }
        // The window's number says nothing that can be believed.
        if kind == .prompt, call.text(atMost: 1024) == nil { return false }
        call.reply()?.send()
        if kind == .dismiss {
            endSecretPrompt(number, isDismissed: true)
        } else if endpoint.prompts.show(number, of: call.sender) {
            showSecretPrompt(number)
        }
        return true
    }

    private func showSecretPrompt(_ number: UInt64, problem: String = "") {
        guard let endpoint = secrets, let prompt = endpoint.prompts[number] else { return }
        if isServingSecrets { return endSecretPrompt(number, isDismissed: false) }
        // Nothing could be asked for that opens it: its user has to.
        if unasked != nil, endpoint.isBehindProxy(prompt.client) { return endSecretPrompt(number, isDismissed: true) }
        let isOpening = openUnasked { [weak self] in
            guard let self else { return }
            endSecretPrompt(number, isDismissed: !isServingSecrets)
        }
        guard !isOpening else { return }
        guard endsAt == nil, dropReason == nil, !isSleeping, let (peer, asker) = endpoint.asker(prompt.client) else {
            return endSecretPrompt(number, isDismissed: true)
        }
        let closed = LeaseCheck.Needed(target: .vault, rule: .eachTime, tags: [], name: problem)
        decide(closed, for: AskingClient(number: number, peer: peer, asker: asker))
    }

    /// The user has answered, or nobody has.
    func finishVaultPrompt(
        _ prompt: PromptQueue.Prompt, _ answer: PromptAnswer, _ secret: EnteredSecret?, _ now: BootInstant
    ) {
        let number = prompt.client
        guard secrets?.prompts[number] != nil else { return }
        if isServingSecrets { return endSecretPrompt(number, isDismissed: false) }
        guard answer == .allowed, let secret else {
            leases.refuse(prompt.request, now)
            return endSecretPrompt(number, isDismissed: true)
        }
        guard endsAt == nil, dropReason == nil, !isSleeping, waitingUnlocks.count < AgentSettings.waitingUnlocks else {
            return endSecretPrompt(number, isDismissed: true)
        }
        waitingUnlocks.append(
            WaitingUnlock(
                connection: number, key: .secret(secret.kind, secret.body, 0..<secret.body.bytes.count),
                limits: settings.limits(idle: nil, timeout: nil)))
    }

    /// The vault was opened, by whatever: nobody need be asked any more.
    func finishSecretUnlock() {
        guard isServingSecrets, let endpoint = secrets else { return }
        endpoint.tellLocked(false)
        for number in endpoint.prompts.numbers(isShown: true) { endSecretPrompt(number, isDismissed: false) }
    }

    /// What was entered for a prompt did not open the vault.
    func failSecretUnlock(_ number: UInt64, _ error: VaultError) {
        guard let endpoint = secrets, endpoint.prompts[number] != nil else { return }
        guard error.code == .wrongPasscode, error.remainingAttempts != 0, endpoint.prompts.tryAgain(number) else {
            return endSecretPrompt(number, isDismissed: true)
        }
        showSecretPrompt(number, problem: error.reason)
    }

    /// Tells its client, and nobody else, how a prompt ended.
    func endSecretPrompt(_ number: UInt64, isDismissed: Bool) {
        guard let endpoint = secrets, let prompt = endpoint.prompts.close(number) else { return }
        // Not what runs: it has spent its attempt.
        waitingUnlocks.removeAll { $0.connection == number }
        let objects = isDismissed ? [] : prompt.objects
        for path in objects { endpoint.tellLocked(path, false, [prompt.client]) }
        let signal = endpoint.bus.signal(
            "Completed", of: "org.freedesktop.Secret.Prompt", on: SecretServicePath.prompt(number).text,
            to: prompt.client)
        guard let signal else { return }
        signal.flag(isDismissed)
        signal.variant(.paths(objects))
        signal.send()
    }

    /// The vault locks: no prompt outlives that, and no call that waits for a thread.
    func endSecretPrompts() {
        guard let endpoint = secrets else { return }
        for number in endpoint.asking { turnAway(secretCall: number, .lockedMeanwhile) }
        for working in endpoint.takeWaiting() { refuseLocked(working.call) }
        for number in endpoint.prompts.numbers(isShown: false) { endSecretPrompt(number, isDismissed: true) }
    }
}
