internal import AgentMessages
internal import AppLockCore
internal import SecretMemory
internal import VaultCore
internal import VaultStorage

/// A change of self-destruct in the agent's memory. The client that began it keeps its connection: when that goes, or
/// the vault is locked, the change is over and nothing has changed.
struct HeldChange {
    let connection: UInt64
    let change: ChangeRequest.Change
    let pending: SelfDestructSwitch
}

extension Agent {
    func handle(_ request: ChangeRequest, _ body: Body, _ connection: Connection) {
        forgetEndedChange()
        if case .begin(let change, let countdown, let secret) = request {
            return begin(change, countdown: countdown, body, secret, connection)
        }
        guard let held = change else {
            if case .pending = request { return send(.change(nil), to: connection) }
            return fail(connection, .noChangePending)
        }
        let pending = held.pending
        switch request {
        case .begin: break
        case .pending: send(.change(PendingChange(held.change, pending)), to: connection)
        case .cancel:
            begin(connection) { _ in
                guard pending.cancel() else { throw VaultError.noChangePending }
                return ([try Packet(.done)], .rest)
            }
        // Only the connection of the first authentication continues the change.
        case .confirm:
            guard held.connection == connection.number else { return fail(connection, .noChangePending) }
            begin(connection) { _ in
                try pending.confirm()
                return ([try Packet(.done)], .rest)
            }
        case .finish(let secret):
            guard held.connection == connection.number else { return fail(connection, .noChangePending) }
            begin(connection) { _ in
                _ = try body.bytes.withPart(secret) { passcode throws(VaultError) in
                    try pending.finish(passcode: passcode)
                }
                return ([try Packet(.done)], .rest)
            }
        }
    }

    private func begin(
        _ change: ChangeRequest.Change, countdown: UInt32?, _ body: Body, _ secret: Range<Int>,
        _ connection: Connection
    ) {
        guard self.change == nil else {
            return fail(connection, VaultError(.exists, "another change of self-destruct is pending"))
        }
        guard lock.isUnlocked, dropReason == nil else { return fail(connection, .locked) }
        let pending = SelfDestructSwitch(vault: vault, countdown: .seconds(countdown ?? 0))
        self.change = HeldChange(connection: connection.number, change: change, pending: pending)
        begin(connection) { _ in
            try body.bytes.withPart(secret) { passcode throws(VaultError) in
                try pending.begin(change == .enable ? .enable : .disable, passcode: passcode)
            }
            return ([try Packet(.change(PendingChange(change, pending)))], .rest)
        }
        // Refused before a thread accepted it: nothing is pending then, and no thread will report that.
        if case .resting = connection.stage { self.change = nil }
    }

    /// The change; taking it removes it here.
    func takeChange() -> SelfDestructSwitch? {
        defer { change = nil }
        return change?.pending
    }

    /// Checks whether it has ended: by expiry, by a refusal, or because it was written.
    func forgetEndedChange() {
        guard let held = change, held.pending.pending == nil else { return }
        if let connection = connections[held.connection], connection.isWorking { return }  // it is just being begun
        change = nil
    }

    /// The client that began it has gone.
    func leaveChange(of connection: Connection) {
        guard change?.connection == connection.number, let pending = takeChange() else { return }
        let isTaken = work.submit {
            pending.leave()
            return nil
        }
        if !isTaken { pending.leave() }
    }
}

extension PendingChange {
    fileprivate init(_ change: ChangeRequest.Change, _ pending: SelfDestructSwitch) {
        self.init(
            change: change, countdown: pending.countdown.wholeMilliseconds,
            remaining: pending.remaining?.wholeMilliseconds)
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: UInt64 {
        let (seconds, attoseconds) = components
        return UInt64(max(0, seconds)) * 1000 + UInt64(max(0, attoseconds / 1_000_000_000_000_000))
    }
}

extension VaultError {
    static let noChangePending = VaultError(.notPending, "no change of self-destruct is pending; nothing was changed")
}
