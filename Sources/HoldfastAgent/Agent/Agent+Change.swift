internal import AgentMessages
internal import AppLockCore
internal import SecretMemory
internal import VaultCore
internal import VaultStorage

/// A change of self-destruct in the agent's memory. The client that began it keeps its connection: when that goes, or the
/// vault is locked, the change is over and nothing has changed.
struct HeldChange {
    let connection: UInt64
    let change: Request.Change
    let pending: SelfDestructSwitch
}

extension Agent {
    func beginChange(
        _ change: Request.Change, countdown: UInt32?, _ body: Body, _ secret: Range<Int>, _ connection: Connection
    ) {
        forgetEndedChange()
        guard self.change == nil else {
            return fail(connection, VaultError(.exists, "another change of self-destruct is pending"))
        }
        guard lock.isUnlocked, dropReason == nil else { return fail(connection, .locked) }
        let pending = SelfDestructSwitch(vault: vault, countdown: .seconds(countdown ?? 0))
        self.change = HeldChange(connection: connection.number, change: change, pending: pending)
        begin(connection) { _ in
            let passcode = try body.secret(secret)
            try pending.begin(change == .enable ? .enable : .disable, passcode: passcode)
            return ([try Packet(.change(PendingChange(change, pending)))], .rest)
        }
        // Refused before a thread accepted it: nothing is pending then, and no thread will report that.
        if case .resting = connection.stage { self.change = nil }
    }

    /// Confirms, finishes, cancels or tells of the change that is held.
    func goOn(withChange request: Request, _ body: Body, _ connection: Connection) {
        forgetEndedChange()
        guard let held = change else {
            if case .pendingChange = request { return send(.change(nil), to: connection) }
            return fail(connection, .noChangePending)
        }
        let pending = held.pending
        switch request {
        case .pendingChange: send(.change(PendingChange(held.change, pending)), to: connection)
        case .cancelChange:
            begin(connection) { _ in
                guard pending.cancel() else { throw VaultError.noChangePending }
                return ([try Packet(.done)], .rest)
            }
        // Only the connection of the first authentication can continue the change.
        case _ where held.connection != connection.number: fail(connection, .noChangePending)
        case .confirmChange:
            begin(connection) { _ in
                try pending.confirm()
                return ([try Packet(.done)], .rest)
            }
        case .finishChange(let secret):
            begin(connection) { _ in
                _ = try pending.finish(passcode: body.secret(secret))
                return ([try Packet(.done)], .rest)
            }
        default: fail(connection, .noChangePending)
        }
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

extension Body {
    /// A copy of the secret in a message.
    func secret(_ range: Range<Int>) throws(VaultError) -> SecretBytes {
        do throws(SecretMemoryError) { return try bytes.copy(range) } catch { throw VaultError(error) }
    }
}

extension PendingChange {
    fileprivate init(_ change: Request.Change, _ pending: SelfDestructSwitch) {
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
