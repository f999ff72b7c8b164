internal import AgentMessages
internal import DeviceOwner
internal import ProgramProtocols
internal import SystemCalls
internal import VaultCore
internal import VaultFormat
internal import VaultStorage
internal import VaultHeader

/// A question that a thread asks.
struct OpenPrompt {
    let cancellation: Cancellation
    /// Nobody waits for the answer any more.
    var isWithdrawn = false
}

extension Agent {
    /// Decides on what stopped a client's work, and asks the user where that is needed.
    func decide(_ closed: LeaseCheck.Needed, for client: AskingClient) {
        let request = LeaseRequest(
            asker: client.asker, target: closed.target, rule: closed.rule, tags: closed.tags)
        connections[client.number]?.asking?.closed = closed
        switch leases.decide(request, clock.now()) {
        case .allow: resume(client.number, with: closed)
        case .refuse(.gone): turnAway(client.number, .notAllowed("the program that connected has ended"))
        case .refuse(.refusedBefore): turnAway(client.number, .notAllowed("the user has just refused this"))
        case .ask(let term): ask(request, closed, client.wanted.map { term.atMost($0) } ?? term, client)
        }
    }

    private func ask(_ request: LeaseRequest, _ closed: LeaseCheck.Needed, _ term: LeaseTerm, _ client: AskingClient) {
        ssh?.clients[client.number]?.asking?.closed = closed
        secrets?.stop(client.number, at: closed)
        if !ask(client, closed.subject, term, for: request) {
            turnAway(client.number, VaultError(.busy, "too many questions are open"))
        }
    }

    /// - Parameter request: Nil where the vault is to be unlocked.
    /// - Returns: False when there are too many questions.
    func ask(
        _ client: AskingClient, _ subject: Question.Subject, _ term: LeaseTerm, for request: LeaseRequest?
    ) -> Bool {
        let stat = ProcessStat(of: client.peer.process)
        // The terminal of the ssh that brings a request shows what the asking host writes.
        let terminal = client.isForwarded ? nil : foreground(client.peer.process)
        let place = terminal.map { PromptPlace.terminal($0) } ?? .dialog
        let question = Question(
            asker: client.peer.shown(stat), process: client.peer.process, subject: subject, term: term,
            isForwarded: client.isForwarded)
        return prompts.add(
            client: client.number, share: stat?.session ?? client.peer.process, place: place, request: request,
            question: question)
    }

    /// Only a program in the foreground has the user in front of it. A group without a number is not to be seen here.
    private func foreground(_ process: Int32) -> UInt32? {
        guard let stat = ProcessStat(of: process), stat.terminal != 0, stat.group > 0, stat.foreground == stat.group,
            ProcessFiles.areOurs(process)
        else { return nil }
        return stat.terminal
    }

    /// Opens what can be opened, and withdraws what nobody waits for any more.
    func advancePrompts() {
        let isIdle = { [self] (prompt: PromptQueue.Prompt) in
            prompt.request == nil ? unlocks.asked != prompt.client : isGone(prompt.client)
        }
        prompts.dropWaiting(where: isIdle)
        for prompt in prompts.open where isIdle(prompt) { withdraw(prompt.number) }
        while let prompt = prompts.openNext() { open(prompt) }
    }

    /// Whether nobody is there any more for whom something was asked.
    func isGone(_ client: UInt64) -> Bool {
        connections[client] == nil && ssh?.clients[client] == nil && secrets?.isWaiting(client) != true
    }

    private func open(_ prompt: PromptQueue.Prompt) {
        let cancellation = Cancellation()
        openPrompts[prompt.number] = OpenPrompt(cancellation: cancellation)
        let introduction = connections[prompt.client]?.introduction ?? Introduction()
        var pinentry = PinentryPrompt(program: settings.pinentry)
        pinentry.display =
            introduction.display.isEmpty ? PinentryPrompt.variable("DISPLAY") ?? "" : introduction.display
        pinentry.waylandDisplay =
            introduction.waylandDisplay.isEmpty
            ? PinentryPrompt.variable("WAYLAND_DISPLAY") ?? "" : introduction.waylandDisplay
        pinentry.terminalType = introduction.terminalType
        let (vault, patience) = (vault, settings.promptPatience)
        // ssh has no words for why it was refused.
        let teller = prompt.question.isForwarded ? foreground(prompt.question.process) : nil
        let authenticator = takesFinger(for: prompt) ? settings.authenticator : nil
        let isTaken = prompting.submit { [pinentry] in
            let asked = AskedQuestion(
                prompt, pinentry, patience, cancellation, telling: teller, taking: authenticator)
            if prompt.request == nil {
                let (answer, secret) = asked.askForSecret(of: vault)
                return .prompted(prompt.number, answer, secret)
            }
            return .prompted(prompt.number, asked.ask(), nil)
        }
        if !isTaken { finishPrompt(prompt.number, .nowhere("the system has no thread left"), nil) }
    }

    /// Programs of this user can have the finger asked for anyway; those in a sandbox only here.
    private func takesFinger(for prompt: PromptQueue.Prompt) -> Bool {
        guard prompt.request == nil else { return false }
        return secrets.map { secrets in
            secrets.prompts[prompt.client].map { !secrets.isBehindProxy($0.client.name) } ?? true
        } ?? true
    }

    /// What a thread has heard.
    func finishPrompt(_ number: UInt64, _ answer: PromptAnswer, _ secret: UnlockAnswer?) {
        guard let prompt = prompts.close(number), let open = openPrompts.removeValue(forKey: number),
            !open.isWithdrawn
        else { return }
        guard let request = prompt.request else { return finishVaultPrompt(prompt.client, answer, secret) }
        let now = clock.now()
        if let reason = lock.checkTime(now) { dropKeys(because: reason) }
        // The lock has withdrawn the question if it was shut meanwhile.
        guard lock.isUnlocked, dropReason == nil, endsAt == nil else {
            return turnAway(prompt.client, .lockedMeanwhile)
        }
        switch answer {
        case .refused:
            leases.refuse(request, now)
            turnAway(prompt.client, .notAllowed("the user refused this"))
        case .unanswered(let reason), .nowhere(let reason), .closed(let reason):
            turnAway(prompt.client, .notAllowed(reason))
        case .allowed, .allowedOnce:
            leases.allow(
                request, for: answer == .allowed ? prompt.question.term : .once,
                program: Question.shown(prompt.question.asker.name), now)
            let asking =
                connections[prompt.client]?.asking?.closed ?? ssh?.clients[prompt.client]?.asking?.closed
                ?? secrets?[prompt.client]?.closed
            guard let asking else { return turnAway(prompt.client, .lockedMeanwhile) }
            resume(prompt.client, with: asking)
        }
    }

    /// The user is not asked any more.
    private func withdraw(_ number: UInt64) {
        guard openPrompts[number]?.isWithdrawn == false else { return }
        openPrompts[number]?.isWithdrawn = true
        openPrompts[number]?.cancellation.cancel()
    }

    /// The vault locks: what is asked is refused, and what was allowed is over.
    func endLeases() {
        leases.end()
        endWaiters()
        for prompt in prompts.takeWaiting() where prompt.request != nil { turnAway(prompt.client, .lockedMeanwhile) }
        for prompt in prompts.open {
            guard openPrompts[prompt.number]?.isWithdrawn == false else { continue }
            withdraw(prompt.number)
            if prompt.request != nil { turnAway(prompt.client, .lockedMeanwhile) }
        }
        for connection in connections.values { connection.asking = nil }
        if let ssh { for client in ssh.clients.values { client.asking = nil } }
        endSecretPrompts()
    }
}
