internal import AgentMessages
internal import AppLockCore
internal import DeviceOwner
internal import ProgramProtocols
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultHeader
internal import VaultStorage

/// What continues when the vault is open, or is not to be opened.
struct UnlockWait {
    let purpose: UnlockReason
    let limits: AgentLock.Limits
    /// Whether it ends with its client, and not with the vault.
    let leaves: Bool
    /// Hears why the vault stays locked; nil where it is open.
    let then: (VaultError?) -> Void
}

// Whatever needs a locked vault waits for the same: a vault that opens without asking is opened, else the user is asked
// once for all who wait. Nobody is asked while the screen is locked or the machine sleeps.
extension Agent {
    /// Has a client wait until the vault is open or is not to be opened.
    /// - Parameter peer: The process that the client is; nil where nobody need be asked.
    /// - Returns: Why it does not wait; then nothing happens.
    func awaitUnlock(
        _ number: UInt64, _ face: UnlockBook.Face, _ peer: Peer?, for purpose: UnlockReason,
        limits: AgentLock.Limits? = nil, then: @escaping (VaultError?) -> Void
    ) -> VaultError? {
        guard endsAt == nil, !isSleeping, unasked != nil || !isUserAway else { return .locked }
        let share = peer.map { ProcessStat(of: $0.process)?.session ?? $0.process }
        let waiter = UnlockBook.Waiter(
            number: number, face: face, share: share, isExplicit: purpose == .command(.unlock))
        switch unlocks.join(waiter, asks: unasked == nil, clock.now()) {
        case .refused: return VaultError(.locked, "locked: you refused to unlock it a moment ago")
        case .full: return VaultError(.busy, "too many programs wait for the vault")
        case .waits: break
        }
        unlockWaits[number] = UnlockWait(
            purpose: purpose, limits: limits ?? settings.limits(idle: nil, timeout: nil), leaves: peer != nil,
            then: then)
        return nil
    }

    /// For a command that cannot ask on its own.
    func awaitUnlock(_ connection: Connection, for purpose: UnlockPurpose, limits: AgentLock.Limits) {
        if lock.isUnlocked, dropReason == nil { return tellUnlocked(connection) }
        let number = connection.number
        connection.stage = .working
        let refusal = awaitUnlock(number, .command, connection.peer, for: .command(purpose), limits: limits) { error in
            guard let connection = self.connections[number] else { return }
            if let error { self.fail(connection, error) } else { self.tellUnlocked(connection) }
        }
        if let refusal { fail(connection, refusal) }
    }

    func tellUnlocked(_ connection: Connection) {
        connection.stage = .resting
        let now = clock.now()
        send(.unlocked(locksIn: lock.due.map { $0.milliseconds(since: now) ?? 0 }), to: connection)
    }

    /// A client waits no more.
    func leaveUnlock(_ number: UInt64) {
        guard unlockWaits.removeValue(forKey: number) != nil else { return }
        unlocks.leave(number)
        // Not what runs: it has spent its attempt.
        if unlocks.isEmpty { dropWaitersUnlock() }
    }

    /// What was entered for those who wait, and has not been tried, is not tried any more.
    private func dropWaitersUnlock() {
        let before = waitingUnlocks.count
        waitingUnlocks.removeAll { $0.client == .waiters }
        if waitingUnlocks.count < before { _ = unlocks.end() }
    }

    /// Begins what is due for those who wait.
    func advanceUnlocks() {
        for number in unlocks.numbers where unlockWaits[number]?.leaves == true && isGone(number) {
            leaveUnlock(number)
        }
        while let step = unlocks.next(isUnasked: unasked != nil) {
            switch step {
            case .open: queue(.device(unasked), settings.limits(idle: nil, timeout: nil), isRemembered: false)
            case .ask(let number): askToUnlock(number)
            }
        }
    }

    private func queue(_ key: WaitingUnlock.Key, _ limits: AgentLock.Limits, isRemembered: Bool) {
        waitingUnlocks.append(
            WaitingUnlock(client: .waiters, key: key, limits: limits, isRemembered: isRemembered))
    }

    private func askToUnlock(_ number: UInt64) {
        guard let wait = unlockWaits[number], let client = askingClient(number), client.asker != .gone else {
            return turnWaiterAway(number, .locked)
        }
        let subject = Question.Subject.vault(wait.purpose, problem: unlockProblem)
        if !ask(client, subject, .once, for: nil) {
            turnWaiterAway(number, VaultError(.busy, "too many questions are open"))
        }
    }

    private func askingClient(_ number: UInt64) -> AskingClient? {
        if let connection = connections[number] { return AskingClient(connection) }
        if let client = ssh?.clients[number] { return AskingClient(client) }
        guard let secrets, let prompt = secrets.prompts[number],
            let (peer, asker) = secrets.asker(prompt.client.name)
        else { return nil }
        return AskingClient(number: number, peer: peer, asker: asker)
    }

    /// The user has answered, or nobody has.
    func finishVaultPrompt(_ client: UInt64, _ answer: PromptAnswer, _ secret: UnlockAnswer?) {
        guard unlocks.asked == client, let wait = unlockWaits[client] else { return }
        switch answer {
        case .allowed, .allowedOnce:
            guard let secret else { return turnAllAway(unlocks.refuse(clock.now()), .refusedByUser) }
            unlocks.enter()
            let key: WaitingUnlock.Key =
                switch secret {
                case .secret(let kind, let body): .secret(kind, body, 0..<body.bytes.count)
                case .owner(let release): .release(release)
                }
            queue(key, wait.limits, isRemembered: wait.purpose.isRemembered)
        case .refused: turnAllAway(unlocks.refuse(clock.now()), .refusedByUser)
        case .unanswered(let reason):
            turnAllAway(unlocks.refuse(clock.now()), VaultError(.locked, "locked: \(reason)"))
        // The next one may be where somebody can be asked.
        case .nowhere(let reason):
            turnWaiterAway(client, VaultError(.locked, "locked: \(reason)"))
        case .closed(let reason):
            turnAllAway(unlocks.end(), VaultError(.locked, "locked: \(reason)"))
        }
    }

    /// What was done for those who wait did not open the vault.
    func failWaiters(_ error: VaultError, isSecret: Bool) {
        guard isSecret, error.code == .wrongPasscode, error.remainingAttempts != 0 else {
            return turnAllAway(unlocks.end(), error)
        }
        unlockProblem = error.reason
        turnAllAway(unlocks.fail(), error)
    }

    /// The vault is open: all continue, and nothing that was entered meanwhile is tried.
    func meetWaiters() {
        waitingUnlocks.removeAll { $0.client == .waiters }
        turnAllAway(unlocks.open(), nil)
    }

    /// The vault locks, or is not to be opened: nobody waits any more.
    func endWaiters() {
        waitingUnlocks.removeAll { $0.client == .waiters }
        turnAllAway(unlocks.end(), .lockedMeanwhile)
    }

    private func turnWaiterAway(_ number: UInt64, _ error: VaultError) {
        unlocks.leave(number)
        turnAllAway([number], error)
    }

    private func turnAllAway(_ numbers: [UInt64], _ error: VaultError?) {
        if unlocks.isEmpty { unlockProblem = "" }
        for number in numbers { unlockWaits.removeValue(forKey: number)?.then(error) }
    }
}

// A vault that opens without asking is shut as others are, so that keys nobody uses are not in memory, and opened again
// for whoever needs it: to refuse would protect nothing, because every program of the user can open it.
extension Agent {
    /// At the start, and after each unlock. What lies in the place of the vault later, a less protected state or
    /// another vault, opens only when somebody asks to unlock it.
    func noteUnasked() {
        let isUnasked = (try? vault.protection())?.level == .device
        unasked = isUnasked ? try? vault.id : nil
    }

    /// Has such a vault opened for something that continues in `then`, once, whether it opened or not.
    /// - Returns: False where the vault asks, or is not to be opened now; then nothing happens.
    func openUnasked(_ then: @escaping () -> Void) -> Bool {
        guard unasked != nil else { return false }
        return awaitUnlock(nextConnection(), .bus, nil, for: .programs) { _ in then() } == nil
    }
}

extension VaultError {
    fileprivate static let refusedByUser = VaultError(.locked, "locked: you refused to unlock it")
}
