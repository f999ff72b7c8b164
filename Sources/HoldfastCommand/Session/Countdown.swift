internal import Holdfast
internal import SystemCalls

/// Waits for the countdown of a change of self-destruct, with a bar on the terminal.
enum Countdown {
    /// How often the time is checked, in milliseconds. The vault's clock decides, not the number of checks.
    private static let interval: Int32 = 100

    /// What the user is told before the countdown.
    static func warning(_ change: SelfDestruct.Change, _ policy: VaultPolicy, _ countdown: Duration) -> String {
        let wait = Format.wait(countdown)
        switch change {
        case .enable:
            return
                "In \(wait), self-destruct will be on: \(policy.attemptLimit) wrong passcodes will then destroy this vault and "
                + "everything in it. Only a backup can bring it back."
        case .disable:
            return "In \(wait), self-destruct will be off: wrong passcodes will no longer destroy this vault."
        }
    }

    /// Returns when the countdown is over.
    /// - Throws: `interrupted` after Ctrl-C and its like, with nothing changed; as
    ///   ``AppLockCore/SelfDestructSwitch/finish(passcode:)`` when the change has expired.
    static func wait(
        _ holder: some ChangeHolder, _ change: SelfDestruct.Change
    ) throws(CommandError) {
        // Nothing that is typed meanwhile tears the line of the countdown, or waits for the next program.
        try Silence.hold { () throws(CommandError) in try count(holder, change) }
    }

    private static func count(
        _ holder: some ChangeHolder, _ change: SelfDestruct.Change
    ) throws(CommandError) {
        let watch = try SignalWatch(Terminal.watched)
        let total = holder.countdown
        let label = "Turning \(change == .enable ? "on" : "off") self-destruct; press Ctrl-C to cancel"
        try Progress.show(label) { progress throws(CommandError) in
            while true {
                let left = try vaultCall { try holder.remaining() }
                guard let left else {
                    throw CommandError(
                        .failure, code: .notPending,
                        "the change was cancelled elsewhere, or the vault was locked; nothing was changed")
                }
                guard left > .zero else { return }
                progress.update(seconds(total - left), of: seconds(total)) { "\($0) s" }
                var waiting = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
                unsafe poll(&waiting, 1, interval)
                guard let signal = watch.next() else { continue }
                guard signal == SIGTSTP else {
                    try? holder.cancel()
                    Output.note("cancelled; nothing was changed")
                    throw CommandError(.interrupted, code: .cancelled, "cancelled; nothing was changed")
                }
                // The vault's clock continues while the process is stopped.
                Silence.pause()
                watch.stop()
                Silence.resume()
            }
        }
    }

    private static func seconds(_ duration: Duration) -> UInt64 { UInt64(max(0, duration.components.seconds)) }
}
