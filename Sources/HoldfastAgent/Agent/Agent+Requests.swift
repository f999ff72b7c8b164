internal import AgentMessages
internal import AppLockCore
internal import VaultCore
internal import VaultFormat
internal import VaultStorage
internal import SystemCalls
internal import VaultHeader

extension Agent {
    /// Begins what a message asks for.
    func handle(_ request: Request, _ body: Body, _ connection: Connection) {
        if let reason = lock.checkTime(clock.now()) { dropKeys(because: reason) }  // before anything is said of it
        switch connection.stage {
        case .taking(let writer): return store(request, body, writer, connection)
        case .takingItem(let item): return store(request, body, item, connection)
        case .confirming: return answer(request, body, connection)
        case .resting, .working, .giving, .listing: break
        }
        switch request {
        case .connection(let request): handle(request, connection)
        case .lock(let request): handle(request, body, connection)
        case .owner(let request): handle(request, connection)
        case .records(let request): handle(request, connection)
        case .transfer: fail(connection, VaultError(.agentProtocol, "no value is being stored"))
        case .items(let request): handle(request, connection)
        case .programs(let request): handle(request, body, connection)
        case .leases(let request): handle(request, connection)
        case .change(let request): handle(request, body, connection)
        case .identity(let call): handle(call, body, connection)
        case .maintenance(let request): handle(request, connection)
        case .sync(let request): handle(request, connection)
        }
    }

    private func handle(_ request: ConnectionRequest, _ connection: Connection) {
        switch request {
        case .hello:
            send(.welcome(version: Frame.version, process: processID, program: settings.program), to: connection)
        case .status: send(.status(status), to: connection)
        case .ping: send(.done, to: connection)
        case .introduce(let introduction): connection.introduction = introduction
        }
    }

    private func handle(_ request: LockRequest, _ body: Body, _ connection: Connection) {
        switch request {
        case .unlock(let factor, let isRemembered, let idle, let timeout, let secret):
            wait(
                WaitingUnlock(
                    client: .connection(connection.number), key: .secret(factor, body, secret),
                    limits: settings.limits(idle: idle, timeout: timeout), isRemembered: isRemembered), connection)
        case .open(let idle, let timeout):
            wait(
                WaitingUnlock(
                    client: .connection(connection.number), key: .device(nil),
                    limits: settings.limits(idle: idle, timeout: timeout)),
                connection)
        case .ask(let purpose, let idle, let timeout):
            awaitUnlock(
                connection, for: purpose, limits: settings.limitsOfQuestion(idle: idle, timeout: timeout))
        case .lock: lock(for: connection)
        case .shutDown:
            lock(for: connection)
            end()
        }
    }

    private var processID: UInt32 { UInt32(bitPattern: getpid()) }

    private var status: AgentStatus {
        let now = clock.now()
        return AgentStatus(
            process: processID, isUnlocked: lock.isUnlocked,
            locksIn: lock.due.map { $0.milliseconds(since: now) ?? 0 }, connections: UInt32(connections.count),
            locks: lock.locks)
    }

    /// Has a thread work for a client, while the lock is open.
    /// - Parameter lane: Whose threads; those for reading and writing when nil.
    func begin(
        _ connection: Connection, on lane: Lane? = nil,
        _ body: @escaping @Sendable (Vault) throws -> ([Packet], Completion.Next)
    ) {
        guard endsAt == nil, lock.isUnlocked, dropReason == nil else { return fail(connection, .locked) }
        connection.stage = .working
        if let reason = lock.visit(clock.now()) { dropKeys(because: reason) }
        let (number, vault, stored, unused) = (connection.number, vault, stored, lock.unused(clock.now()))
        let isTaken =
            lock.isUnlocked
            && (lane ?? work).submit {
                .work(number, Work.run(vault, unused: unused) { try stored.noting(vault) { try body(vault) } })
            }
        guard !isTaken else { return }
        fail(connection, lock.isUnlocked ? VaultError(.busy, "the agent has too much to do") : .locked)
    }

    /// Sends the next piece of a value, after the client has received the previous ones.
    func sendNextPiece(_ connection: Connection) {
        switch connection.stage {
        case .resting, .working, .taking, .takingItem, .confirming: break
        case .giving(let reader, let done):
            connection.lastUsed = messages  // it takes what it asked for
            begin(connection) { _ in try Work.give(reader, done) }
        case .listing(let entries, let start):
            let batch = Work.batch(entries, from: start)
            if batch.isEmpty {
                connection.stage = .resting
                send(.finished(UInt64(entries.count)), to: connection)
            } else {
                connection.stage = .listing(entries, batch.endIndex)
                send(.records(Array(batch)), to: connection)  // the next one goes when this one has
            }
        }
    }

    func handle(_ completion: Completion) {
        switch completion {
        case .unlock(let result): finishUnlock(result)
        case .confirmed(let result): finishConfirming(result)
        case .say(let number, let reply):
            if let connection = connections[number], connection.hears { send(reply, to: connection) }
        case .lock:
            isDroppingKeys = false
        case .ssh(let number, let outcome):
            noteUse(outcome)
            finishSSH(number, outcome)
        case .sshForChip(let number, let gate): signInChip(number, gate)
        case .secrets(let number, let found, let outcome):
            if number != SecretServiceSurvey.number { noteUse(outcome) }
            finishSecrets(number, found, outcome)
        case .synced(let life, let rounds, let outcome): finishSync(life, rounds, outcome)
        case .prompted(let number, let answer, let secret): finishPrompt(number, answer, secret)
        case .work(let number, let outcome):
            noteUse(outcome)
            finishWork(outcome, connections[number])
            surveySecrets()
        }
    }

    /// Work in the open vault has ended. Where it met a newer header, that one's rules hold here too: the idle time
    /// becomes no longer than they say, and what was allowed before is asked for again.
    private func noteUse(_ outcome: Completion.Outcome) {
        if case .headerChanged = outcome { return }
        lock.noteUse(clock.now())
        followRules()
    }

    /// Takes over the rules of a header that somebody has met meanwhile.
    func followRules() {
        guard lock.isUnlocked, let generation = vault.openGeneration, generation != followed else { return }
        followed = generation
        leases.end()
        let timing = vault.authenticatedPolicy?.lockTiming
        if let reason = lock.bound(by: timing, clock.now()) { dropKeys(because: reason) }
    }

    private func finishWork(_ outcome: Completion.Outcome, _ connection: Connection?) {
        forgetEndedChange()
        if let reason = lock.visit(clock.now()) { dropKeys(because: reason) }
        switch outcome {
        case .done(let packets, let next):
            guard let connection else { return }
            // The client that asked to lock may already have been told that it is locked.
            guard lock.isUnlocked && dropReason == nil || !packets.contains(where: \.isOfVault) else {
                return fail(connection, .lockedMeanwhile)
            }
            for packet in packets { connection.append(packet) }
            connection.stage =
                switch next {
                case .rest: .resting
                case .give(let reader, let done): .giving(reader, done)
                case .take(let writer): .taking(writer)
                case .takeItem(let item): .takingItem(item)
                case .list(let entries): .listing(entries, 0)
                }
            connection.asking = nil
            if connection.isStreaming && !lock.isUnlocked { return fail(connection, .locked) }
            flush(connection)
        case .stopped(let closed):
            guard let connection else { return }
            guard lock.isUnlocked, dropReason == nil else { return fail(connection, .lockedMeanwhile) }
            decide(closed, for: AskingClient(connection))
        case .failed(let error):
            if let connection { fail(connection, error) }
            if error.endsAgent { end() }
        case .headerChanged(let error):
            lock.lock(clock.now())
            dropKeys(because: .requested)
            if let connection { fail(connection, error ?? .headerChanged) }
            if error?.endsAgent ?? false { end() }
        }
    }
}

extension VaultError {
    static let headerChanged = VaultError(
        .locked, "the vault's keys or rules were changed, so it was locked")

    /// Whether there is no vault any more that an agent could serve.
    var endsAgent: Bool { code == .noVault || code == .wiped }
}
