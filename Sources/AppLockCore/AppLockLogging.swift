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
    /// The security log tells less apart than the lock does.
    var logged: LogLockReason {
        switch self {
        case .background, .minimised: .background
        case .idle: .idle
        case .systemLock, .userSwitch, .lidClosed: .system
        case .suspend: .suspend
        case .reboot, .clockWentBack: .timeout
        case .launch, .forced, .panic, .keysGone: .requested
        }
    }
}
