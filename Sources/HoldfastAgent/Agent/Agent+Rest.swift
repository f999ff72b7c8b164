internal import DeviceOwner
internal import VaultCore
internal import VaultFormat
internal import VaultStorage
internal import SystemCalls
internal import VaultHeader

// An agent that the service manager starts when it is needed ends when it is not. What it would forget keeps it: it
// ends only where the next one does the same as it would have.
extension Agent {
    /// Nothing is kept for anybody, and nothing is under way.
    private var isNeeded: Bool {
        lock.isUnlocked || !isQuiet || isSleeping || change != nil || !unlocks.isEmpty || !waitingUnlocks.isEmpty
            || !connections.isEmpty || !prompts.open.isEmpty || !prompts.waiting.isEmpty
            // Somebody was told that this is served until the agent ends.
            || secrets != nil || (ssh.map { !$0.isPassed || !$0.clients.isEmpty } ?? false)
            // Which vault may be opened without asking, and what is known of the owner's fingers, is nowhere else.
            || unasked != nil || vault.ownerKeeper.expiry != .noPasscode || vault.ownerKeeper.nonMatches > 0
    }

    /// Milliseconds of the agent's clock at which it ends, if nobody comes; nil where it does not.
    func noteRest() {
        guard let rest = settings.rest, !settings.passed.isEmpty, endsAt == nil, !isNeeded else {
            return restsSince = nil
        }
        let now = clock.now().milliseconds
        let since = restsSince ?? now
        restsSince = since
        guard now >= since + UInt64(rest) * 1000 else { return }
        leave()
    }

    /// When it may end.
    var restDue: UInt64? {
        guard let restsSince, let rest = settings.rest else { return nil }
        return restsSince + UInt64(rest) * 1000
    }

    /// Ends, unless a client comes at the last moment: nobody can connect to a name that is gone, and whoever did
    /// before is served. Clients of the manager's sockets wait there for the next agent.
    private func leave() {
        // Before the socket goes: whoever finds no socket then does not take us for one elsewhere.
        HomeClaim.say(F_UNLCK, vault.home.descriptor)
        folder.remove(socketName)
        acceptAll(listener)
        guard !connections.isEmpty else { return end() }
        restsSince = nil
        do throws(VaultError) {
            let next = try folder.listen(socketName)
            close(listener)
            listener = next
            HomeClaim.say(F_RDLCK, vault.home.descriptor)
        } catch { end() }
    }
}
