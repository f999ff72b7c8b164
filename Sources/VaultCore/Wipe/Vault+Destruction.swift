internal import KeyStores
internal import VaultFormat
internal import VaultHeader
internal import VaultWipe
internal import VaultLog
package import VaultStorage

// That a vault destroys itself, as a key store outside of its folder remembers it (``DestructionRule``).
extension Vault {
    /// What a key store says of a vault whose header has self-destruct on.
    package enum DestructionMemory: Sendable, Hashable {
        /// It vouches for it: the limit destroys.
        case remembered
        /// It knows of none, or of another limit: until the next unlock the limit closes the vault and destroys
        /// nothing.
        case forgotten
        /// It cannot be asked now; until it can, the same.
        case unanswered
        /// There is no such store here, or this process may use none: the header decides alone.
        case unkept
    }

    /// Asks the key stores.
    /// - Throws: What reading the header throws.
    package func destructionMemory() throws(VaultError) -> DestructionMemory {
        let header = try HeaderFile.read(in: home)
        return switch DestructionRule(of: header, in: home, settings) {
        case .unkept: .unkept
        case .unknown: .forgotten
        case .unanswered: .unanswered
        case .after(let limit): limit <= header.policy.attemptLimit ? .remembered : .forgotten
        }
    }

    /// Has the key store remember it, before the rule is in the header.
    /// - Returns: Whose it is remembered for; nil where nothing remembers such things, or the folder has no key yet.
    /// - Throws: `shareUnavailable` and what else a key store that is there says; what was remembered before is then
    ///   still there.
    @discardableResult
    func noteDestruction(_ policy: VaultPolicy) throws(VaultError) -> HardwareOwner? {
        guard let stores = shareStores, stores.hasFloors, let owner = try WipeKeyFile.owner(in: home, vault: id) else {
            return nil
        }
        do throws(ShareFailure) {
            let wanted = DestructionFloor(owner.vault, limit: policy.attemptLimit)
            if try stores.destruction(of: owner) == .floor(wanted) { return owner }
        } catch {
            if case .unavailable(.absent) = error { return nil }
            // The best store may take it, though a lesser one cannot be asked.
        }
        do throws(ShareFailure) { try stores.setDestruction(limit: policy.attemptLimit, of: owner) } catch {
            throw VaultError(error)
        }
        return owner
    }

    /// Has it forget that, before the rule is taken from the header.
    /// - Throws: As ``noteDestruction(_:)``.
    func forgetDestruction(of owner: HardwareOwner?) throws(VaultError) {
        guard let owner, let stores = shareStores else { return }
        do throws(ShareFailure) { try stores.removeDestruction(of: owner) } catch { throw VaultError(error) }
    }

    /// What follows from wrong passcodes that have reached the limit, under a header that nobody has authenticated.
    func destroysByRules(_ header: Header, _ budget: AttemptBudget) -> DestructionRule.Decision {
        budget.decision(by: DestructionRule(of: header, in: home, settings))
    }

    /// Why a vault at its limit is still there; nil where it is not at it.
    func notDestroyed() -> VaultError? {
        let now = settings.clock.now()
        guard let header = try? HeaderFile.read(in: home),
            let budget = try? AttemptLedger.peek(in: home, vault: header.vault, policy: header.policy, now: now),
            budget.decision(at: now) == .destroy
        else { return nil }
        let decision = destroysByRules(header, budget)
        return decision == .destroy ? nil : .notDestroyed(decision, hasPhrase: header.recoverySlot != nil)
    }

    /// What the key store remembers follows a header that was just written. What it does not take is asked for again at
    /// the next unlock; until then the vault closes at its limit.
    func followDestruction(of policy: VaultPolicy) {
        guard policy.selfDestruct, !settings.opensOnly else { return }
        _ = try? noteDestruction(policy)
    }

    /// Has the key store forget a home whose genuine header has self-destruct off. A switch that was cut off or a reset
    /// of the rules may have left a floor, by which an edited header would be believed.
    func dropDestruction(of header: Header) {
        guard !settings.opensOnly, let stores = shareStores, stores.hasFloors, let owner = owner(of: header),
            let found = try? stores.destruction(of: owner), found != .none
        else { return }
        try? stores.removeDestruction(of: owner)
    }

    /// As ``followDestruction(of:)``, for a header that an unlock has found genuine, and whose lock the caller no
    /// longer holds. Nobody waits for the key store, and a failure does not keep the user out.
    func followDestruction(_ header: Header) {
        // Without the rule only a switch that was cut off has left a receipt's key, and perhaps a floor.
        guard header.policy.selfDestruct || ((try? receiptKey(of: header.vault)) ?? nil) != nil, !settings.opensOnly,
            shareStores?.hasFloors == true, standing(of: header) != .unsettled
        else { return }
        settings.inBackground { [self] in
            switch (DestructionRule(of: header, in: home, settings), header.policy.selfDestruct) {
            case (.unkept, _), (.unanswered, _), (.unknown, false): return
            case (.after(header.policy.attemptLimit), true): return
            case (.unknown, true), (.after, _): break
            }
            // Under the lock: it may have been switched since.
            guard let locked = try? LockedHeader(in: home), locked.header == header else { return }
            guard !header.policy.selfDestruct else { return followDestruction(of: header.policy) }
            dropDestruction(of: header)
        }
    }
}
