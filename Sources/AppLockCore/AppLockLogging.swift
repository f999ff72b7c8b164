internal import VaultFormat

extension LockEffect {
    /// What the security log says about keys that go, where this effect tells why.
    var lockedBecause: LogLockReason? {
        switch self {
        case .record(.locked(let reason)): reason.logged
        case .record(.wipeBegan), .record(.wiped): .wipe
        default: nil
        }
    }
}

extension LockReason {
    /// What the security log calls it.
    var logged: LogLockReason {
        switch self {
        case .background: .background
        case .minimised: .minimised
        case .idle: .idle
        case .systemLock: .system
        case .userSwitch: .userSwitch
        case .lidClosed: .lidClosed
        case .suspend: .suspend
        case .panic: .panic
        case .reboot, .clockWentBack: .clock
        case .launch, .forced, .keysGone: .requested
        }
    }
}
