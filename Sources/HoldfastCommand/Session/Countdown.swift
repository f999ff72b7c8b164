internal import Holdfast
internal import SystemCalls

/// Waits for the countdown of a change of self-destruct, with a bar on the terminal.
enum Countdown {
    /// How often time is looked at, in milliseconds. The vault's clock counts, not the number of looks.
    private static let interval: Int32 = 100

    /// What the owner is told before the countdown.
    static func warning(_ change: SelfDestruct.Change, _ policy: VaultPolicy, _ countdown: Duration) -> String {
        let wait = Format.wait(countdown)
        switch change {
        case .enable:
            return
                "In \(wait), \(policy.attemptLimit) wrong passcodes will be enough to destroy this vault with all that is "
                + "in it. Nobody can bring it back then but from a backup."
        case .disable: return "In \(wait), wrong passcodes will not destroy this vault any more."
        }
    }

    /// Returns when the countdown is over.
    /// - Throws: `interrupted` after Ctrl-C and its like, with nothing changed; as
    ///   ``AppLockCore/SelfDestructSwitch/finish(passcode:)`` when the change has expired.
    static func wait(
        _ holder: some ChangeHolder, _ change: SelfDestruct.Change
    ) throws(CommandError) {
        let watch = try SignalWatch([SIGINT, SIGTERM, SIGHUP, SIGQUIT])
        let total = holder.countdown
        let label = "Self-destruct goes \(change == .enable ? "on" : "off"), Ctrl-C cancels"
        try Progress.show(label) { progress throws(CommandError) in
            while true {
                let left = try vaultCall { try holder.remaining() }
                guard let left else {
                    throw CommandError(
                        .failure, code: VaultError.Code.notPending.description,
                        "the change was cancelled elsewhere, or the vault was locked; nothing was changed")
                }
                guard left > .zero else { return }
                progress.update(seconds(total - left), of: seconds(total)) { "\($0) s" }
                var waiting = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
                unsafe poll(&waiting, 1, interval)
                guard watch.next() == nil else {
                    try? holder.cancel()
                    Output.note("cancelled; nothing was changed")
                    throw CommandError(.interrupted, code: "cancelled", "cancelled; nothing was changed")
                }
            }
        }
    }

    private static func seconds(_ duration: Duration) -> UInt64 { UInt64(max(0, duration.components.seconds)) }
}
