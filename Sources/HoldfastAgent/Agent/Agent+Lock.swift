internal import AgentMessages
internal import AppLockCore
internal import Cryptography
internal import DeviceOwner
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage
internal import VaultHeader

extension Agent {
    /// Unlocks take turns: the ledger lets one in at a time anyway, and each needs the memory of a key derivation.
    func wait(_ unlock: WaitingUnlock, _ connection: Connection) {
        guard endsAt == nil, !isSleeping else { return fail(connection, .locked) }
        guard waitingUnlocks.count < AgentSettings.waitingUnlocks else {
            return fail(connection, VaultError(.busy, "too many unlocks are waiting"))
        }
        connection.stage = .working
        waitingUnlocks.append(unlock)
    }

    private func startUnlock() {
        guard runningUnlock == nil, dropReason == nil, !isDroppingKeys, !waitingUnlocks.isEmpty else { return }
        let next = waitingUnlocks.removeFirst()
        let prompt = lock.beginUnlock(clock.now())
        runningUnlock = RunningUnlock(
            client: next.client, prompt: prompt, limits: next.limits, method: next.key.method)
        let vault = vault
        let isTaken = unlocking.submit { .unlock(Agent.unlock(vault, next)) }
        if !isTaken { finishUnlock(.failure(VaultError(.busy, "the system has no thread left"))) }
    }

    private static func unlock(_ vault: Vault, _ next: WaitingUnlock) -> Result<Void, VaultError> {
        Result { () throws(VaultError) in
            switch next.key {
            case .release(let box):
                guard let release = box.take() else { throw .locked }
                try vault.unlock(release)
            case .secret(let kind, let body, let range):
                try body.bytes.withPart(range) { secret throws(VaultError) in try vault.unlock(kind, secret) }
            case .device(let expected): try vault.openByDevice(expecting: expected)
            }
            // The command read the rule in a header that nobody had proved yet.
            if next.isRemembered, vault.authenticatedPolicy?.remembersPasscode != true {
                vault.lock()
                throw VaultError(.busy, "the vault's rules changed meanwhile; run the command again")
            }
        }
    }

    func finishUnlock(_ result: Result<Void, VaultError>) {
        guard let unlock = runningUnlock else { return }
        runningUnlock = nil
        let connection = unlock.client.connection.flatMap { connections[$0] }
        switch result {
        case .success:
            if unlock.method == .passcode { noteEnrollment() }
            followed = vault.openGeneration
            noteUnasked()
            // What was kept over the lock is for a vault that opens by itself, which this one no longer does.
            if !lock.isUnlocked, unasked == nil { ssh?.forget(keepingGuards: false) }
            let limits = unlock.limits.bounded(by: vault.authenticatedPolicy?.lockTiming)
            let reason = lock.endUnlock(unlock.prompt, by: unlock.method, opened: limits, clock.now())
            if let reason = reason ?? (endsAt == nil ? nil : .ended) { dropKeys(because: reason) }
            isUserAway = false
            finishSecretUnlock()
            secrets?.survey.isNewsOfUnlock = true
            surveySecrets()
            guard lock.isUnlocked, dropReason == nil else {
                if let connection { fail(connection, .locked) }
                return
            }
            beginSync()
            meetWaiters()
            if let connection { tellUnlocked(connection) }
        case .failure(let error):
            let reason = lock.endUnlock(unlock.prompt, by: unlock.method, opened: nil, clock.now())
            if let reason { dropKeys(because: reason) }
            if let connection { fail(connection, error) }
            if unlock.client == .waiters { failWaiters(error, isSecret: unlock.method != nil) }
            if error.endsAgent { end() }
        }
    }

    /// Shuts at once; the client is answered when the keys are gone.
    func lock(for connection: Connection) {
        connection.stage = .working
        lockers.append((connection.number, completions.last))
        cancelUnlocks()
        cancelConfirming()
        lock.lock(clock.now())
        dropKeys(because: .requested)
    }

    /// Unlocks that were asked for before a lock must not open what was shut after.
    func cancelUnlocks() {
        let cancelled = waitingUnlocks
        waitingUnlocks = []
        for unlock in cancelled {
            if let connection = unlock.client.connection.flatMap({ connections[$0] }) {
                fail(connection, .lockedMeanwhile)
            }
        }
        endWaiters()
    }

    /// Ends what is under way, and has the keys dropped by a thread: that waits for operations that are inside the
    /// vault.
    func dropKeys(because reason: LogLockReason) {
        dropReason = dropReason ?? reason
        endedChange = takeChange() ?? endedChange
        // A vault that opens by itself has no lock that only the user ends.
        ssh?.forget(keepingGuards: unasked != nil)
        endSync()
        endLeases()
        secrets?.tellSurveyed(isLocked: true)
        secrets?.tellLocked(true)
        for connection in Array(connections.values) {
            let isTakenBack = connection.takeBack(patience: settings.messagePatience)
            if isTakenBack || connection.isStreaming { fail(connection, .lockedMeanwhile) }
        }
    }

    /// Continues locking and unlocking as far as possible now.
    func advance() {
        // What has to be shut by now is shut before an unlock is begun, and its keys go.
        if runningUnlock == nil, !waitingUnlocks.isEmpty, let reason = lock.checkTime(clock.now()) {
            dropKeys(because: reason)
        }
        if let reason = dropReason, !isDroppingKeys {
            dropReason = nil
            isDroppingKeys = true
            let (vault, change) = (vault, endedChange)
            endedChange = nil
            let isTaken = locking.submit {
                change?.leave()
                vault.lock(because: reason)
                return .lock
            }
            if !isTaken {
                change?.leave()
                vault.lock(because: reason)
                isDroppingKeys = false
            }
        }
        if dropReason == nil, !isDroppingKeys {
            let told = busLockers
            busLockers = []
            for (call, paths) in told { Agent.answer(call, paths) }
        }
        if dropReason == nil, !isDroppingKeys, runningUnlock == nil { tellLockers() }
        allowSleep()
        startUnlock()
    }

    /// Tells who asked for the lock that nothing is left of what was known: a question has the name of an item until
    /// its thread has ended what asks it, and a chip is told what it wants to hear until it has signed.
    private func tellLockers() {
        let told = lockers.filter { completions.areForgotten(upTo: $0.lastJob) }
        guard !told.isEmpty else { return }
        lockers.removeAll { locker in told.contains { $0.connection == locker.connection } }
        WorkingMemory.wipeAll()
        for locker in told {
            guard let connection = connections[locker.connection] else { continue }
            connection.stage = .resting
            send(.done, to: connection)
        }
    }
}

extension VaultError {
    static let lockedMeanwhile = VaultError(.locked, "the vault was locked meanwhile")
}

extension Agent {
    /// What the session or the machine did. It can only lock, never unlock.
    func hear(_ event: SessionEvent) {
        switch event {
        case .locked:
            isUserAway = true
            shut(.systemLocked, .systemUnlocked, because: .system)
        case .lidClosed: shut(.lidClosed, nil, because: .lidClosed)
        case .switchedAway:
            isUserAway = true
            shut(.userSwitchedAway, .userSwitchedBack, because: .userSwitch)
        case .sleeps:
            isSleeping = true
            lastJobBeforeSleep = completions.last
            shut(.suspended, .resumed, because: .suspend)
        case .woke: isSleeping = false
        case .unlocked, .switchedBack: isUserAway = false
        }
    }

    private func shut(_ event: LockEvent, _ end: LockEvent?, because reason: LogLockReason) {
        cancelUnlocks()
        cancelConfirming()
        lock.notice(event, end, clock.now())
        dropKeys(because: reason)
    }

    /// Once the keys are gone, and those of an unlock that ran, and what threads knew of items, the machine may sleep.
    /// Where that takes longer than the machine waits, it sleeps anyway.
    func allowSleep() {
        guard isSleeping, dropReason == nil, !isDroppingKeys, runningUnlock == nil,
            completions.areForgotten(upTo: lastJobBeforeSleep)
        else { return }
        watch?.allowSleep()
    }
}
