internal import VaultFormat
internal import VaultHeader
internal import VaultLog
internal import VaultStorage
internal import SystemCalls

extension Vault {
    /// Something that needed a right secret, and what the attempt ledger had counted before.
    struct Success {
        let event: SecurityEvent
        let refused: UInt32
        /// Attempts that had been burned and never checked.
        let unsettled: UInt32

        init(_ event: SecurityEvent, after budget: AttemptBudget) {
            self.event = event
            refused = budget.refused
            unsettled = budget.spent - min(budget.refused, budget.spent)
        }

        /// An unlocking.
        init(by method: UnlockMethod, after budget: AttemptBudget) {
            self.init(.unlocked(LogUnlock(method: method, refused: budget.refused)), after: budget)
        }
    }

    /// What the ledger says, where no attempt was burned.
    func budget(_ header: Header) -> AttemptBudget {
        let now = settings.clock.now()
        let budget = try? AttemptLedger.peek(in: home, vault: header.vault, policy: header.policy, now: now)
        return budget ?? AttemptBudget(spent: 0, refused: 0, delay: 0, delayStart: now, policy: header.policy)
    }

    /// Writes it down, and begins a new log where there is none to continue. The entry is on the disk when this
    /// returns; its state may follow, because it proves itself.
    func note(_ success: Success, _ keys: UnlockedKeys) {
        let begin = logBegin(keys, refused: success.refused, unsettled: success.unsettled)
        if success.unsettled > 0 { log.append(.unsettled(count: success.unsettled), begin: begin) }
        log.append(success.event, begin: begin, waits: false)
    }

    /// What makes a new chain of the log where there is none to continue.
    /// - Parameters:
    ///   - keys: Of the unlocked vault.
    ///   - refused: What the attempt ledger knew before this success.
    ///   - unsettled: Attempts that had been burned and never checked.
    func logBegin(_ keys: UnlockedKeys, refused: UInt32, unsettled: UInt32) -> SecurityLog.Begin {
        let home = home
        return SecurityLog.Begin(
            keys: { () throws(VaultError) in try keys.logKeys() },
            epoch: { () throws(VaultError) in try HeaderFile.read(in: home).epoch }, refused: refused,
            unsettled: unsettled)
    }

    /// Notes an attempt that was not even taken.
    func noteRefusal(_ error: VaultError) {
        switch error.code {
        case .delayed, .attemptsExhausted, .noWayLeft: log.append(.turnedAway)
        case .rollbackSuspected: log.append(.rollbackReported)
        default: break
        }
    }
}

extension UnlockedKeys {
    /// The keybag's log keys.
    func logKeys() throws(VaultError) -> LogKeys {
        var all: [LogEpochKey] = []
        for epoch in keybag.logEpochs {
            all.append(try LogEpochKey(keybag.key(.log, epoch: epoch), epoch: epoch, vault: vault))
        }
        return try LogKeys(all, areChanging: keybag.mayLogBeOlder)
    }
}

extension BootClock {
    /// Now, as entries of the log say it.
    @Sendable func logMoment() -> LogMoment {
        let now = now()
        return LogMoment(time: WallClock.milliseconds, bootID: now.bootID, bootMilliseconds: now.milliseconds)
    }
}
