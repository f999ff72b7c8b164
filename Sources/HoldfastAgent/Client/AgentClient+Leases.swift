package import AgentMessages
internal import SystemCalls
package import VaultStorage

extension AgentClient {
    /// Says who asks, for the questions that the user is asked about it. Costs no answer.
    package borrowing func introduce() throws(VaultError) {
        var introduction = Introduction()
        var program = stat()
        // This program hides itself from others of its user, and so from the agent.
        if unsafe stat("/proc/self/exe", &program) == 0 {
            introduction.program = Introduction.Program(
                device: UInt64(program.st_dev), inode: UInt64(program.st_ino))
        }
        introduction.display = AgentClient.variable("DISPLAY")
        introduction.waylandDisplay = AgentClient.variable("WAYLAND_DISPLAY")
        introduction.terminalType = AgentClient.variable("TERM")
        try send(.connection(.introduce(introduction)))
    }

    private static func variable(_ name: String) -> String {
        let value = PinentryPrompt.variable(name) ?? ""
        return Introduction.sizes.contains(value.utf8.count) ? value : ""
    }

    /// Has the user asked for what opens the vault, by the agent: on a display, or on the terminal that this process is
    /// in the foreground of.
    /// - Returns: As ``unlock(_:_:idle:timeout:)``.
    /// - Throws: `locked` where the user refused, nobody answered or nobody can be asked; what unlocking throws.
    package borrowing func askToUnlock(
        for purpose: UnlockPurpose, idle: UInt32? = nil, timeout: UInt32? = nil
    ) throws(VaultError) -> UInt64? {
        try introduce()
        return try waiting { agent throws(VaultError) in
            try agent.send(.lock(.ask(purpose, idle: idle, timeout: timeout)))
            guard case .unlocked(let locksIn) = try agent.receiveReply() else { throw .unexpected }
            return locksIn
        }
    }

    /// Has the user asked whether this program may use an item, or items with a tag, until the vault locks or for some
    /// seconds.
    /// - Throws: `notAllowed`; `locked`; what reading the item throws.
    package borrowing func lease(_ target: LeasedName, seconds: UInt32?) throws(VaultError) {
        try waiting { agent throws(VaultError) in try agent.expectDone(.leases(.lease(target, seconds: seconds))) }
    }

    /// The leases, in the order in which they were given.
    package borrowing func leases() throws(VaultError) -> [LeaseEntry] {
        try send(.leases(.list))
        var all: [LeaseEntry] = []
        while true {
            switch try receiveReply() {
            case .leases(let some): all += some
            case .finished(let count):
                guard count == UInt64(all.count) else { throw .unexpected }
                return all
            default: throw .unexpected
            }
        }
    }

    /// Ends one lease, or all.
    /// - Returns: How many.
    package borrowing func revoke(_ number: UInt64?) throws(VaultError) -> UInt64 {
        try send(.leases(.revoke(number)))
        guard case .finished(let count) = try receiveReply() else { throw .unexpected }
        return count
    }

    /// Has the patience that a question to the user needs.
    borrowing func waiting<R: ~Copyable, E: Error>(_ body: (borrowing AgentClient) throws(E) -> R) throws(E) -> R {
        setPatience(AgentClient.unlockPatience)
        defer { setPatience(AgentClient.patience) }
        do throws(E) { return try body(self) } catch {
            if (error as? VaultError)?.code == .agentUnavailable { PromptScreen.giveBack() }
            throw error
        }
    }
}
