internal import AgentMessages
internal import CommandLineArguments
internal import Holdfast
internal import HoldfastAgent

/// Keeps a change of self-destruct during its countdown: the agent while it is unlocked, otherwise this command.
protocol ChangeHolder: AnyObject {
    /// The whole countdown; known once the change has begun.
    var countdown: Duration { get }
    func begin(_ change: SelfDestruct.Change, passcode: borrowing SecretBytes) throws(VaultError)
    func confirm() throws(VaultError)
    /// Nil when nothing is pending any more, zero when the last authentication is due.
    func remaining() throws(VaultError) -> Duration?
    func cancel() throws(VaultError)
    func finish(passcode: borrowing SecretBytes) throws(VaultError)
}

/// Held in this process, and gone with it.
final class OwnChange: ChangeHolder {
    private let selfDestruct: SelfDestructSwitch

    init(_ selfDestruct: SelfDestructSwitch) { self.selfDestruct = selfDestruct }

    var countdown: Duration { selfDestruct.countdown }

    func begin(_ change: SelfDestruct.Change, passcode: borrowing SecretBytes) throws(VaultError) {
        try selfDestruct.begin(change, passcode: passcode)
    }

    func confirm() throws(VaultError) { try selfDestruct.confirm() }
    func remaining() throws(VaultError) -> Duration? { selfDestruct.remaining }
    func cancel() throws(VaultError) { selfDestruct.cancel() }

    func finish(passcode: borrowing SecretBytes) throws(VaultError) {
        _ = try selfDestruct.finish(passcode: passcode)
    }
}

/// Held by the agent, which everybody can ask about it, and which gives it up when it locks or this connection ends.
final class AgentChange: ChangeHolder {
    private let agent: AgentClient
    private let wanted: Duration
    private(set) var countdown: Duration

    init(_ agent: consuming AgentClient, countdown: Duration) {
        self.agent = agent
        wanted = countdown
        self.countdown = countdown
    }

    func begin(_ change: SelfDestruct.Change, passcode: borrowing SecretBytes) throws(VaultError) {
        let pending = try agent.begin(
            change == .enable ? .enable : .disable, countdown: UInt32(clamping: wanted.components.seconds),
            passcode: passcode)
        countdown = .milliseconds(pending.countdown)
    }

    func confirm() throws(VaultError) { try agent.confirmChange() }

    func remaining() throws(VaultError) -> Duration? {
        try agent.pendingChange()?.remaining.map { .milliseconds($0) }
    }

    func cancel() throws(VaultError) { try agent.cancelChange() }
    func finish(passcode: borrowing SecretBytes) throws(VaultError) { try agent.finishChange(passcode: passcode) }
}

extension AgentAccess {
    /// The agent, if it can keep a change that long: it is unlocked and does not lock automatically before.
    static func holder(_ arguments: Arguments, for countdown: Duration) -> AgentChange? {
        guard let agent = try? connect(arguments), let status = try? agent.status(), status.isUnlocked else {
            return nil
        }
        // The user needs time for the confirmation and for the last passcode too.
        if let locksIn = status.locksIn, .milliseconds(locksIn) < countdown + .seconds(60) { return nil }
        return AgentChange(agent, countdown: countdown)
    }

    /// What change the agent holds; nil without one, and without an agent.
    static func pendingChange(_ arguments: Arguments) throws -> PendingChange? {
        guard let agent = try connect(arguments) else { return nil }
        return try agent.pendingChange()
    }
}
