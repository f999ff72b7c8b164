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
    /// - Parameter place: Where the search is; everywhere when nil.
    func answerLocked(
        _ question: SecretServiceAttributes, in place: SecretServiceWork.Place?, _ call: BusCall,
        _ kind: SecretServiceCall
    ) {
        let path: SecretServicePath?
        switch place {
        // What is kept in memory is gone.
        case .session: path = nil
        case .folder(let collection): path = SecretServicePath(answering: question, in: collection)
        case nil: path = SecretServicePath(answering: question, in: nil)
        }
        if path == nil, place != .session, !question.values.isEmpty {
            return call.fail(
                SecretServiceError.limits, "the vault is locked, and a search of this length is for an open one")
        }
        answer(.locked(path.map { [$0.text] } ?? []), to: call, kind)
    }

    /// Objects are unlocked already, or there is a prompt for them.
    func unlock(_ paths: [String], for call: BusCall, _ endpoint: SecretServiceEndpoint) {
        let paths = paths.filter(Agent.isLockable)
        if isServingSecrets || paths.isEmpty { return Agent.answer(call, paths) }
        let number = nextConnection()
        let client = endpoint.client(call.sender)
        if let old = endpoint.prompts.superfluous(for: client, paths) { endSecretPrompt(old, isDismissed: true) }
        guard endpoint.prompts.open(number, client, paths) else {
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
        guard case .prompt(let number) = path, let prompt = endpoint.prompts[number], prompt.client.name == call.sender
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

    private func showSecretPrompt(_ number: UInt64) {
        guard let endpoint = secrets, let prompt = endpoint.prompts[number] else { return }
        if isServingSecrets { return endSecretPrompt(number, isDismissed: false) }
        // Nothing could be asked for that opens it: its user has to.
        if unasked != nil, endpoint.isBehindProxy(prompt.client.name) {
            return endSecretPrompt(number, isDismissed: true)
        }
        guard let peer = endpoint.peer(of: prompt.client.name) else {
            return endSecretPrompt(number, isDismissed: true)
        }
        let refusal = awaitUnlock(number, .bus, peer, for: .programs) { error in
            self.endSecretPrompt(number, isDismissed: error != nil)
        }
        if refusal != nil { endSecretPrompt(number, isDismissed: true) }
    }

    /// The vault was opened, by whatever: nobody need be asked any more.
    func finishSecretUnlock() {
        guard isServingSecrets, let endpoint = secrets else { return }
        endpoint.tellLocked(false)
        for number in endpoint.prompts.numbers(isShown: true) { endSecretPrompt(number, isDismissed: false) }
    }

    /// Tells its client, and nobody else, how a prompt ended.
    func endSecretPrompt(_ number: UInt64, isDismissed: Bool) {
        guard let endpoint = secrets, let prompt = endpoint.prompts.close(number) else { return }
        leaveUnlock(number)
        let objects = isDismissed ? [] : prompt.objects
        for path in objects { endpoint.tellLocked(path, false, [prompt.client.name]) }
        let signal = endpoint.bus.signal(
            "Completed", of: "org.freedesktop.Secret.Prompt", on: SecretServicePath.prompt(number).text,
            to: prompt.client.name)
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
