internal import AgentMessages
internal import AppLockCore
internal import DeviceOwner
internal import SecretMemory
internal import VaultCore
internal import VaultFormat
internal import VaultStorage
internal import VaultHeader

extension Agent {
    /// A confirmation that a thread runs, and what unlocks behind it.
    struct Confirming {
        let connection: UInt64
        let talk: OwnerTalk
        let limits: AgentLock.Limits
    }

    func handle(_ request: OwnerRequest, _ connection: Connection) {
        switch request {
        case .confirm(let step, let idle, let timeout):
            confirm(step, settings.limits(idle: idle, timeout: timeout), connection)
        case .status: send(.owner(ownerStatus), to: connection)
        case .answer, .cancel: fail(connection, VaultError(.agentProtocol, "no confirmation is in progress"))
        }
    }

    /// Has a thread ask the system for its owner. One at a time: there is one sensor.
    private func confirm(_ step: OwnerStep, _ limits: AgentLock.Limits, _ connection: Connection) {
        guard endsAt == nil, dropReason == nil, !isSleeping else { return fail(connection, .locked) }
        if lock.isUnlocked {
            return tellUnlocked(connection)
        }
        guard confirming == nil else {
            return fail(connection, VaultError(.busy, "a confirmation is already in progress"))
        }
        let talk = OwnerTalk(connection.number, completions)
        confirming = Confirming(connection: connection.number, talk: talk, limits: limits)
        connection.stage = .confirming
        let (vault, authenticator) = (vault, settings.authenticator)
        let isTaken = asking.submit { .confirmed(Agent.confirm(step, vault, authenticator, talk)) }
        if !isTaken { finishConfirming(.failure(VaultError(.busy, "the system has no thread left"))) }
    }

    /// Asks. Runs on a thread.
    private static func confirm(
        _ step: OwnerStep, _ vault: Vault, _ authenticator: OwnerAuthenticator, _ talk: OwnerTalk
    ) -> Result<OwnerReleaseBox, VaultError> {
        Result { () throws(VaultError) in
            OwnerReleaseBox(try vault.confirmOwner(step, by: authenticator, talk))
        }
    }

    func finishConfirming(_ result: Result<OwnerReleaseBox, VaultError>) {
        guard let ended = confirming else { return }
        confirming = nil
        guard let connection = connections[ended.connection] else { return }
        switch result {
        case .failure(let error):
            fail(connection, error)
            if error.endsAgent { end() }
        case .success(let release):
            guard endsAt == nil, dropReason == nil, !isSleeping else { return fail(connection, .lockedMeanwhile) }
            wait(
                WaitingUnlock(
                    client: .connection(connection.number), key: .release(release), limits: ended.limits), connection)
        }
    }

    /// What a client says while the owner is being confirmed.
    func answer(_ request: Request, _ body: Body, _ connection: Connection) {
        guard let confirming, confirming.connection == connection.number else {
            return fail(connection, VaultError(.agentProtocol, "no confirmation is in progress"))
        }
        switch request {
        case .owner(.answer(let range)):
            guard let secret = try? body.bytes.copy(range), confirming.talk.take(secret) else {
                return confirming.talk.cancellation.cancel()
            }
        default: confirming.talk.cancellation.cancel()
        }
    }

    /// The prompt is over; the thread ends on its own.
    func cancelConfirming(_ connection: UInt64? = nil) {
        guard let confirming, connection == nil || connection == confirming.connection else { return }
        confirming.talk.cancellation.cancel()
    }

    /// After a passcode: what is enrolled now is what a match will be compared with.
    func noteEnrollment() {
        guard vault.ownerKeeper.isArmed else { return }
        let (vault, authenticator) = (vault, settings.authenticator)
        _ = asking.submit {
            vault.noteEnrollment(by: authenticator)
            return nil
        }
    }

    private var ownerStatus: OwnerStatus {
        let state = vault.ownerState
        return OwnerStatus(
            expiry: state.expiry, sincePasscode: state.sincePasscode,
            nonMatches: UInt32(clamping: state.nonMatches))
    }
}
