package import BetterAuthMessages

// The rules of protocol.md 5, 7 and 12.1 to 12.8. No store has rules of its own: each of them
// asks here, inside its transaction.
extension AccountChange {
    /// The new state of an account; nil for an identity that was never seen.
    package func decision(on account: Account?) -> AccountDecision {
        if let reply, let known = account?.reply(to: reply.operation, now: moment) { return .repeated(known) }
        do throws(ProtocolError) {
            let changed = try applied(to: account)
            return .commit(changed.account, revoked: changed.revoked)
        } catch {
            return .refused(error)
        }
    }

    private func applied(
        to account: Account?
    ) throws(ProtocolError) -> (account: Account, revoked: [DeviceID]) {
        let account = account?.markedByDevice
        switch kind {
        case .create(let device, let recoveryHash):
            // Also when it was deleted: an identity is burnt for ever.
            guard account == nil else { throw .plain(.alreadyRegistered) }
            var device = device
            device.reply = reply
            return (Account(recoveryHash: recoveryHash, devices: [device]), [])
        case .rotate(let rotation):
            return (try rotated(account, rotation).account, [])
        case .link(let rotation, let device):
            var (changed, _) = try rotated(account, rotation)
            try changed.expectNew(device.id)
            guard changed.devices.count + changed.former.count < Account.maximumDevicesEver else {
                throw .tooManyDevices(isLasting: true)
            }
            guard changed.devices.count < Account.maximumDevices else { throw .tooManyDevices(isLasting: false) }
            changed.devices.append(device)
            return (changed, [])
        case .unlink(let rotation, let target):
            var (changed, _) = try rotated(account, rotation)
            // Saying "done" about a device that was never there would leave the one that was meant.
            guard changed.device(target) != nil || changed.former.contains(target) else {
                throw .invalidDevice(target, calculated: nil)
            }
            guard changed.revoke({ $0.id == target }, now: moment) else { return (changed, []) }
            return (changed, [target])
        case .changeRecovery(let rotation, let recoveryHash):
            var (changed, _) = try rotated(account, rotation)
            changed.recoveryHash = recoveryHash
            return (changed, [])
        case .delete(let rotation):
            let (changed, _) = try rotated(account, rotation)
            return (.burnt(reply), changed.devices.map(\.id))
        case .recover(var device, let revealed, let next):
            // The same answer whether the identity is unknown, deleted, or has another recovery key.
            guard var changed = account, !changed.isLocked, let committed = changed.recoveryHash,
                committed == revealed, next != revealed
            else { throw .plain(.invalidHash) }
            try changed.expectNew(device.id)
            guard changed.devices.count + changed.former.count < Account.maximumDevicesRecovered else {
                throw .tooManyDevices(isLasting: true)
            }
            let revoked = changed.devices.map(\.id)
            _ = changed.revoke({ _ in true }, now: moment)
            device.reply = reply
            changed.devices = [device]
            changed.recoveryHash = next
            return (changed, revoked)
        case .administer(let administration):
            return try administered(account, administration)
        case .endSessions(let device, let clockWasAhead):
            guard var changed = account, !changed.isDeleted else { throw .plain(.unknownPath) }
            if let device, changed.device(device) == nil { throw .invalidDevice(device, calculated: nil) }
            changed.endSessions(before: justAfter, clockWasAhead: clockWasAhead) { device == nil || $0.id == device }
            return (changed, [])
        }
    }

    /// Strictly later: a token of this very moment ends too.
    private var justAfter: Timestamp { moment.adding(milliseconds: 1) ?? moment }

    private func administered(
        _ account: Account?, _ administration: Administration
    ) throws(ProtocolError) -> (account: Account, revoked: [DeviceID]) {
        guard var changed = account, !changed.isDeleted else { throw .plain(.unknownPath) }
        switch administration {
        case .lock:
            changed.isLocked = true
            changed.endSessions(before: justAfter) { _ in true }
        case .unlock: changed.isLocked = false
        case .delete: return (.burnt(nil), changed.devices.map(\.id))
        }
        return (changed, [])
    }

    /// The account with the device's next key in use.
    private func rotated(
        _ account: Account?, _ rotation: Rotation
    ) throws(ProtocolError) -> (account: Account, index: Int) {
        guard var account, account.isActive,
            let index = account.devices.firstIndex(where: { $0.id == rotation.device })
        else { throw .invalidDevice(rotation.device, calculated: nil) }
        // Without the committed digest, which a caller that does not know the key must not learn.
        guard account.devices[index].rotationHash == rotation.revealed else { throw .plain(.invalidHash) }
        account.devices[index].publicKey = rotation.publicKey
        account.devices[index].rotationHash = rotation.rotationHash
        account.devices[index].reply = reply
        return (account, index)
    }
}

extension Account {
    /// What stays of it for ever, so that its identity is never made again.
    fileprivate static func burnt(_ reply: CommittedReply?) -> Account {
        Account(recoveryHash: nil, devices: [], departedReplies: reply.map { [$0] } ?? [])
    }

    /// The same, with no mark but those of its devices: one that comes later is under none.
    fileprivate var markedByDevice: Account {
        var account = self
        account.voidBefore = .never
        account.endSessions(before: voidBefore) { _ in true }
        return account
    }

    /// A mark does not go down, for a clock that is behind would bring tokens back, unless the operator says so.
    fileprivate mutating func endSessions(
        before moment: Timestamp, clockWasAhead: Bool = false, of isMeant: (Device) -> Bool
    ) {
        for index in devices.indices where isMeant(devices[index]) {
            devices[index].voidBefore = clockWasAhead ? moment : max(moment, devices[index].voidBefore)
        }
    }

    fileprivate func expectNew(_ id: DeviceID) throws(ProtocolError) {
        guard device(id) == nil, !former.contains(id) else { throw .plain(.alreadyRegistered) }
    }

    /// Moves devices to the former ones; their last replies stay for a while. False when there was none.
    fileprivate mutating func revoke(_ isMeant: (Device) -> Bool, now: Timestamp) -> Bool {
        let leaving = devices.filter(isMeant)
        guard !leaving.isEmpty else { return false }
        devices.removeAll(where: isMeant)
        former += leaving.map(\.id)
        departedReplies += leaving.compactMap(\.reply)
        departedReplies = departedReplies.filter { now <= $0.until }.suffix(Account.maximumDepartedReplies)
        return true
    }
}

extension Timestamp {
    /// The first moment of 1970, which no token is older than.
    package static let never = Timestamp(clamping: 0)
}
