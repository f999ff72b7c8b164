import GtkKit
import Holdfast

extension SystemEvents.Event {
    /// What it is to the lock machine.
    var ofLock: LockEvent {
        switch self {
        case .sessionLocked: .systemLocked
        case .sessionUnlocked: .systemUnlocked
        case .switchedAway: .userSwitchedAway
        case .switchedBack: .userSwitchedBack
        case .lidClosed: .lidClosed
        case .sleeps: .suspended
        case .wakes: .resumed
        }
    }

    /// Whether the owner leaves; otherwise the owner comes back.
    var closes: Bool {
        switch self {
        case .sessionLocked, .switchedAway, .lidClosed, .sleeps: true
        case .sessionUnlocked, .switchedBack, .wakes: false
        }
    }
}
