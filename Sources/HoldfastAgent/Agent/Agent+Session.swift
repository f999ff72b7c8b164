internal import AppLockCore
internal import DeviceOwner
internal import VaultCore
internal import VaultFormat

extension Agent {
    /// What the session or the machine did. It can only lock, never unlock.
    func hear(_ event: SessionEvent) {
        switch event {
        case .locked: shut(.systemLocked, .systemUnlocked, because: .system)
        case .lidClosed: shut(.lidClosed, nil, because: .lidClosed)
        case .switchedAway: shut(.userSwitchedAway, .userSwitchedBack, because: .userSwitch)
        case .sleeps:
            isSleeping = true
            lastJobBeforeSleep = completions.last
            shut(.suspended, .resumed, because: .suspend)
        case .woke: isSleeping = false
        case .unlocked: break
        }
    }

    private func shut(_ event: LockEvent, _ end: LockEvent?, because reason: LogLockReason) {
        cancelUnlocks()
        cancelConfirming()
        lock.notice(event, end, clock.now())
        dropKeys(because: reason)
    }

    /// Once the keys are gone, and those of an unlock that ran, and what threads knew of items, the machine may sleep. Where that takes longer
    /// than the machine waits, it sleeps anyway.
    func allowSleep() {
        guard isSleeping, dropReason == nil, !isDroppingKeys, runningUnlock == nil,
            completions.areForgotten(upTo: lastJobBeforeSleep)
        else { return }
        watch?.allowSleep()
    }
}
