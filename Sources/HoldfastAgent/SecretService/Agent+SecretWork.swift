internal import DeviceOwner
internal import ProgramProtocols
internal import ProgramAccess
internal import Items
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage
internal import VaultHeader

extension Agent {
    static let wrongArgument = "an argument is not what the call takes, or is too large"

    @discardableResult
    func refuseLocked(_ call: BusCall) -> Bool {
        call.fail(SecretServiceError.isLocked, "the vault is locked; unlock Holdfast first")
        return true
    }

    func refuseUnknown(_ call: BusCall) -> Bool {
        call.fail(SecretServiceError.noSuchObject, "there is no such collection or item")
        return true
    }

    func refuseSession(_ call: BusCall) -> Bool {
        call.fail(SecretServiceError.noSession, "there is no such session of yours")
        return true
    }

    /// Has a thread look into the open vault, when it is this call's turn.
    func begin(
        _ call: BusCall, _ kind: SecretServiceCall, _ endpoint: SecretServiceEndpoint,
        _ session: SecretServiceEndpoint.Session? = nil, isMany: Bool = false,
        _ body: @escaping SecretServiceEndpoint.Body
    ) {
        begin(
            SecretServiceEndpoint.Working(
                call: call, kind: kind, session: session, prepare: { () throws(VaultError) in body }, isMany: isMany),
            endpoint)
    }

    func begin(_ work: SecretServiceEndpoint.Working, _ endpoint: SecretServiceEndpoint) {
        if let reason = lock.visit(clock.now()) { dropKeys(because: reason) }
        guard isServingSecrets else {
            refuseLocked(work.call)
            return
        }
        for refused in endpoint.begin(nextConnection(), work) {
            refused.call.fail(SecretServiceError.limits, "too many calls of this program are under way")
        }
    }

    /// Does again what stopped, now that it is allowed.
    func resume(secretCall number: UInt64, with closed: LeaseCheck.Needed) {
        guard secrets?[number] != nil else { return }
        if let reason = lock.visit(clock.now()) { dropKeys(because: reason) }
        guard isServingSecrets else { return turnAway(secretCall: number, .lockedMeanwhile) }
        secrets?.resume(number, allowed: closed)
    }

    /// Has threads work for the calls whose turn it is. Before the agent waits, when everything that was read for
    /// earlier ones is out of memory.
    func workForSecrets() {
        while let endpoint = secrets, let (number, working) = endpoint.next() { work(for: number, working, endpoint) }
        secrets?.giveBackMemory()
    }

    private func work(
        for number: UInt64, _ working: SecretServiceEndpoint.Working, _ endpoint: SecretServiceEndpoint
    ) {
        func end(_ name: String, _ words: String) {
            endpoint.giveThread(number)
            endpoint.finish(number)?.call.fail(name, words)
        }
        let body: SecretServiceEndpoint.Body?
        do throws(VaultError) { body = try working.prepare() } catch {
            return end(SecretServiceError.name(of: error), error.reason)
        }
        guard let body else { return end(SecretServiceError.invalidArguments, Agent.wrongArgument) }
        let (vault, items, gate, room, stored) = (vault, items, working.gate, working.room, stored)
        let (memory, unused) = (endpoint.memory.items, lock.unused(clock.now()))
        let isTaken = work.submit {
            var found: SecretServiceAnswer?
            let outcome = Work.run(vault, unused: unused) {
                found = try stored.noting(vault) {
                    try Work.behind(gate) {
                        try body(SecretServiceWork(items: items, memory: memory, gate: gate, room: room))
                    }
                }
                return ([], .rest)
            }
            return .secrets(number, found, outcome)
        }
        if !isTaken { end(SecretServiceError.limits, "the agent has too much to do") }
    }

    /// What a thread has finished.
    func finishSecrets(_ number: UInt64, _ found: SecretServiceAnswer?, _ outcome: Completion.Outcome) {
        if number == SecretServiceSurvey.number { return finishSurvey(found) }
        secrets?.giveThread(number)
        if let reason = lock.visit(clock.now()) { dropKeys(because: reason) }
        if case .headerChanged(let error) = outcome {
            lock.lock(clock.now())
            dropKeys(because: .requested)
            if error?.endsAgent ?? false { end() }
        }
        if case .stopped(let closed) = outcome, isServingSecrets { return decide(closed, forSecretCall: number) }
        if case .failed = outcome, isServingSecrets, secrets?.waitForRoom(number) ?? false { return }
        guard let working = secrets?.finish(number) else { return }
        guard isServingSecrets else {
            refuseLocked(working.call)
            return
        }
        switch outcome {
        case .done:
            if let found {
                answer(found, to: working.call, working.kind, working.session)
                return secrets?.tell(found, of: working.kind, on: working.call.path) ?? ()
            }
            working.call.fail(SecretServiceError.failed, "nothing was found")
        case .failed(let error):
            if working.kind == .getProperty, error.code == .invalidName {
                return working.call.fail(SecretServiceError.unknownProperty, "the object has no such property")
            }
            working.call.fail(SecretServiceError.name(of: error), "\(error)")
        case .stopped, .headerChanged: refuseLocked(working.call)
        }
    }

    /// The item is to be asked for.
    private func decide(_ closed: LeaseCheck.Needed, forSecretCall number: UInt64) {
        guard let endpoint = secrets, let working = endpoint[number] else { return }
        guard let (peer, asker) = endpoint.asker(working.call.sender) else {
            return turnAway(secretCall: number, .notAllowed("the program that asks cannot be recognised"))
        }
        decide(closed, for: AskingClient(number: number, peer: peer, asker: asker))
    }

    /// Ends what stopped. A call for several items continues without those that the user is asked for; nothing more is
    /// asked for it.
    func turnAway(secretCall number: UInt64, _ error: VaultError) {
        if error.code == .notAllowed, isServingSecrets, secrets?[number]?.isMany == true {
            return secrets?.resume(number, allowed: nil) ?? ()
        }
        guard let working = secrets?.finish(number) else { return }
        working.call.fail(SecretServiceError.name(of: error), error.reason)
    }
}
