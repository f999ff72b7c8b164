internal import AgentMessages
internal import AppLockCore
internal import DeviceOwner
internal import SecretMemory
package import VaultCore
internal import VaultFormat

extension VaultError.Code {
    /// The system asked its owner, and nobody who came was him.
    package static let notConfirmed = VaultError.Code("notConfirmed")
    /// The owner turned away. Never counted, and never a way down.
    package static let cancelled = VaultError.Code("cancelled")
    /// Nobody came in time.
    package static let timedOut = VaultError.Code("timedOut")
    /// The system cannot ask its owner: no sensor, nothing set up.
    package static let ownerUnavailable = VaultError.Code("ownerUnavailable")
    /// Nothing is set up for it.
    package static let ownerNotEnrolled = VaultError.Code("ownerNotEnrolled")
    /// The system takes no try now.
    package static let ownerLockedOut = VaultError.Code("ownerLockedOut")
    /// Another program uses the sensor.
    package static let ownerBusy = VaultError.Code("ownerBusy")
}

extension Agent {
    /// A confirmation that a thread runs, and what unlocks behind it.
    struct Confirming {
        let connection: UInt64
        let talk: OwnerTalk
        let limits: AgentLock.Limits
    }

    /// Has a thread ask the system for its owner. One at a time: there is one sensor.
    func confirm(_ step: DeviceOwner.OwnerStep, _ limits: AgentLock.Limits, _ connection: Connection) {
        guard endsAt == nil, dropReason == nil, !isSleeping else { return fail(connection, .locked) }
        if lock.isUnlocked {
            let now = clock.now()
            return send(.unlocked(locksIn: lock.due.map { $0.milliseconds(since: now) ?? 0 }), to: connection)
        }
        guard confirming == nil else {
            return fail(connection, VaultError(.busy, "somebody is being asked to confirm the owner already"))
        }
        let talk = OwnerTalk(connection.number, completions)
        confirming = Confirming(connection: connection.number, talk: talk, limits: limits)
        connection.stage = .confirming
        let (vault, authenticator, completions) = (vault, settings.authenticator, completions)
        let isTaken = asking.submit {
            completions.post(.confirmed(Agent.confirm(step, vault, authenticator, talk)))
        }
        if !isTaken { finishConfirming(.failure(VaultError(.busy, "no thread can be had; try again"))) }
    }

    /// Asks. Runs on a thread.
    private static func confirm(
        _ step: DeviceOwner.OwnerStep, _ vault: Vault, _ authenticator: OwnerAuthenticator, _ talk: OwnerTalk
    ) -> Result<ReleaseBox, VaultError> {
        Result { () throws(VaultError) in
            // Before anybody is asked; when it opens, the rules are looked at again with proof.
            if let obstacle = try vault.ownerObstacle(step) { throw obstacle }
            switch authenticator.confirm(step, keeper: vault.ownerKeeper, talk) {
            case .released(let release): return ReleaseBox(release)
            case .refused:
                if step == .biometrics { try vault.countFailedBiometrics() }
                throw VaultError(.notConfirmed, "the owner was not recognised")
            case .cancelled: throw VaultError(.cancelled, "cancelled; the vault stays locked")
            case .timedOut: throw VaultError(.timedOut, "nobody came in time; the vault stays locked")
            case .impossible(let capability): throw VaultError(capability)
            case .expired(let expiry):
                if expiry == .enrolmentChanged { vault.noteChangedEnrolment(step) }
                throw .passcodeNeeded(expiry)
            }
        }
    }

    func finishConfirming(_ result: Result<ReleaseBox, VaultError>) {
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
                WaitingUnlock(connection: connection.number, key: .release(release), limits: ended.limits), connection)
        }
    }

    /// What a client says while the owner is being confirmed.
    func answer(_ request: Request, _ body: Body, _ connection: Connection) {
        guard let confirming, confirming.connection == connection.number else {
            return fail(connection, VaultError(.agentProtocol, "nobody is being confirmed"))
        }
        switch request {
        case .cancel: confirming.talk.cancellation.cancel()
        case .answer(let range):
            guard let secret = try? body.bytes.copy(range), confirming.talk.take(secret) else {
                return confirming.talk.cancellation.cancel()
            }
        default: confirming.talk.cancellation.cancel()
        }
    }

    /// Nobody is asked any more; the thread ends by itself.
    func cancelConfirming(_ connection: UInt64? = nil) {
        guard let confirming, connection == nil || connection == confirming.connection else { return }
        confirming.talk.cancellation.cancel()
    }

    /// After a passcode: what is enrolled now is what a match will be compared with.
    func noteEnrolment() {
        guard vault.ownerKeeper.isArmed else { return }
        let (vault, authenticator) = (vault, settings.authenticator)
        _ = asking.submit {
            guard let enrolment = authenticator.enrolment(of: .biometrics) else { return }
            vault.ownerKeeper.note(enrolment)
        }
    }

    var ownerStatus: OwnerStatus {
        let state = vault.ownerState
        return OwnerStatus(
            expiry: state.expiry.map(OwnerStatus.Expiry.init), sincePasscode: state.sincePasscode,
            nonMatches: UInt32(clamping: state.nonMatches))
    }
}

extension OwnerStatus.Expiry {
    fileprivate init(_ expiry: OwnerExpiry) {
        switch expiry {
        case .noPasscode: self = .noPasscode
        case .nonMatches: self = .nonMatches
        case .enrolmentChanged: self = .enrolmentChanged
        }
    }
}

extension DeviceOwner.OwnerStep {
    /// As the client named it.
    init(_ step: Request.OwnerStep) {
        switch step {
        case .biometrics: self = .biometrics
        case .devicePasscode: self = .devicePasscode
        }
    }

    /// As the lock machine calls it.
    var method: UnlockMethod {
        switch self {
        case .biometrics: .biometrics
        case .devicePasscode: .devicePasscode
        }
    }
}

extension VaultError {
    fileprivate init(_ capability: OwnerCapability) {
        let why = capability.why ?? "the owner cannot be asked"
        switch capability {
        case .notEnrolled: self.init(.ownerNotEnrolled, why)
        case .lockedOut: self.init(.ownerLockedOut, why)
        case .busy: self.init(.ownerBusy, why)
        case .missing, .available: self.init(.ownerUnavailable, why)
        }
    }
}
