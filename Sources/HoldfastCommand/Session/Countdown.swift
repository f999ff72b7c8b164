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
        let watch = try SignalWatch(Terminal.watched)
        // Nothing that is typed meanwhile tears the line of the countdown, or waits for the next program.
        let silence = Silence()
        defer { silence.end() }
        let total = holder.countdown
        let label = "Turning \(change == .enable ? "on" : "off") self-destruct; press Ctrl-C to cancel"
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
                guard let signal = watch.next() else { continue }
                guard signal == SIGTSTP else {
                    try? holder.cancel()
                    Output.note("cancelled; nothing was changed")
                    throw CommandError(.interrupted, code: "cancelled", "cancelled; nothing was changed")
                }
                // The vault's clock goes on while the process is stopped.
                silence.pause()
                watch.stop()
                silence.resume()
            }
        }
    }

    /// The terminal, if there is one, without echo.
    private struct Silence: ~Copyable {
        private let terminal: Terminal?
        private let echo: Echo?

        init() {
            switch Terminal() {
            case .some(let terminal):
                echo = Silence.isInFront(terminal) ? try? Echo(terminal.descriptor, isShown: false) : nil
                self.terminal = consume terminal
            case .none:
                echo = nil
                terminal = nil
            }
        }

        func pause() { if isInFront { echo?.restore() } }

        func resume() { if isInFront { try? echo?.turnOff() } }

        /// What was typed is dropped.
        func end() {
            resume()
            pause()
        }

        private var isInFront: Bool {
            switch terminal {
            case .some(let terminal): Silence.isInFront(terminal)
            case .none: false
            }
        }

        /// Whoever changes the settings of a terminal from the background is stopped.
        private static func isInFront(_ terminal: borrowing Terminal) -> Bool {
            tcgetpgrp(terminal.descriptor) == getpgrp()
        }
    }

    private static func seconds(_ duration: Duration) -> UInt64 { UInt64(max(0, duration.components.seconds)) }
}
