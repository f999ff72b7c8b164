internal import VaultCore
internal import VaultFormat

// A vault that opens without asking is shut as others are, so that keys nobody uses are not in memory, and opened again
// for whoever needs it: to refuse would protect nothing, because every program of the user can open it.
extension Agent {
    /// At the start, and after each unlock. What lies in the place of the vault later, a less protected state or another
    /// vault, is opened for nobody who did not ask to unlock.
    func noteUnasked() {
        let isUnasked = (try? vault.protection())?.level == .device
        unasked = isUnasked ? try? vault.id : nil
    }

    /// Has such a vault opened for something that goes on in `then`, once, whether it opened or not.
    /// - Returns: False where the vault asks, or is not to be opened now; then nothing happens.
    func openUnasked(_ then: @escaping () -> Void) -> Bool {
        guard let unasked, endsAt == nil, !isSleeping, demands.count < AgentSettings.demands else { return false }
        demands.append(then)
        guard demands.count == 1 else { return true }  // for the first one it is being opened
        waitingUnlocks.append(
            WaitingUnlock(
                connection: nil, key: .device(unasked), limits: settings.limits(idle: nil, timeout: nil)))
        return true
    }

    /// What waited goes on.
    func meetDemands() {
        let waiting = demands
        demands = []
        for demand in waiting { demand() }
    }
}
