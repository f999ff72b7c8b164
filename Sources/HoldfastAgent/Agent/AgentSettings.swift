package import DeviceOwner
package import VaultHeader

/// What an agent is told when it is started.
package struct AgentSettings: Sendable {
    /// Path of the home.
    package var home: String
    /// The user's runtime folder (`$XDG_RUNTIME_DIR`); nil where there is none.
    package var runtime: String?
    /// Seconds without a request after which the vault locks; nil for 15 minutes.
    package var idle: UInt32?
    /// Seconds after which it locks in any case; nil for 12 hours.
    package var timeout: UInt32?
    /// For ``AgentMessages/Reply/welcome(version:process:program:)``.
    package var program: String
    /// Costs and clock of the vault.
    package var vault: VaultSettings
    /// How the owner is confirmed.
    package var authenticator = OwnerAuthenticator.standard
    /// The source of lock, sleep and lid events; nil to ignore them.
    package var watch: SessionWatch.Places?
    /// What works with the identity in the vault; nil where that is not served.
    package var identity: (any IdentityService)?
    /// Whether SSH programs are served from the beginning.
    package var servesSSH = false
    /// Whether it is the Secret Service of the user's session from the beginning.
    package var servesSecrets = false
    /// Sockets of the service manager that started it.
    package var passed = PassedSockets()
    /// Seconds that it stays when it is not needed, where the service manager starts it again; nil for ever.
    package var rest: UInt32? = 600
    /// Hears what the user should know of what the agent cannot be.
    package var tell: @Sendable (String) -> Void = { _ in }
    /// The program that asks the user where it must be asked; nil for the client's terminal, else the system's
    /// pinentry.
    package var pinentry: String?
    /// Milliseconds that the user has to answer a question.
    package var promptPatience: UInt64 = 60_000
    /// Milliseconds that a message may take from its first byte to its last.
    package var messagePatience: UInt64 = 10_000
    /// Milliseconds after which it looks, when nothing else wakes it, whether its folders are still there.
    package var folderPatience: UInt64 = 60_000

    package init(
        home: String, runtime: String? = nil, idle: UInt32? = nil, timeout: UInt32? = nil, program: String,
        vault: VaultSettings = .standard
    ) {
        self.home = home
        self.runtime = runtime
        self.idle = idle
        self.timeout = timeout
        self.program = program
        self.vault = vault
    }

    /// Seconds that may be asked for: up to a week.
    package static let times: ClosedRange<UInt32> = 1...604_800
    /// Clients at once.
    static let connections = 256
    /// Threads that read and write for programs.
    static let workers = 4
    /// Unlocks that wait for their turn.
    static let waitingUnlocks = 128
    /// Milliseconds in which those who look at the claim on a home must have looked.
    static let claimPatience: UInt64 = 10_000
    /// Milliseconds that threads have to finish when the agent ends.
    static let endPatience: UInt64 = 2000

    /// Seconds without use after which an agent locks, where nobody says otherwise; and in any case.
    package static let standardIdle = AgentLock.Limits.standard.idle
    package static let standardTimeout = AgentLock.Limits.standard.timeout

    /// - Parameters:
    ///   - idle: What a client asks for; nil for this agent's own. Longer ones than ``times`` are cut.
    ///   - timeout: The same.
    func limits(idle: UInt32?, timeout: UInt32?) -> AgentLock.Limits {
        AgentLock.Limits(
            idle: min(idle ?? self.idle ?? AgentLock.Limits.standard.idle, AgentSettings.times.upperBound),
            timeout: min(timeout ?? self.timeout ?? AgentLock.Limits.standard.timeout, AgentSettings.times.upperBound))
    }

    /// As ``limits(idle:timeout:)``, for an unlock that a question asks for: it says nothing of times, so the vault is
    /// open for no longer than this agent's own.
    func limitsOfQuestion(idle: UInt32?, timeout: UInt32?) -> AgentLock.Limits {
        let (own, asked) = (limits(idle: nil, timeout: nil), limits(idle: idle, timeout: timeout))
        return AgentLock.Limits(idle: min(own.idle, asked.idle), timeout: min(own.timeout, asked.timeout))
    }
}
