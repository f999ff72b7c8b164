internal import VaultFormat

extension LogLockReason {
    /// What the security log says of a lock that is in this state now.
    init(_ state: LockMachine.State) {
        switch state {
        case .locked(let reason): self.init(reason)
        case .wiping, .wiped: self = .wipe
        case .disabled, .authenticating, .delayed, .unlocked: self = .requested
        }
    }

    private init(_ reason: LockReason) {
        self =
            switch reason {
            case .background: .background
            case .idle: .idle
            case .systemLock: .system
            case .userSwitch: .userSwitch
            case .suspend: .suspend
            case .lidClosed: .lidClosed
            case .minimised: .minimised
            case .panic: .panic
            case .reboot, .clockWentBack: .clock
            case .launch, .forced, .keysGone: .requested
            }
    }
}
