import DeviceOwner
import GtkKit
import Holdfast

/// Reports on the main thread what happens to the session and the machine.
final class SessionEvents {
    private let watch: SessionWatch
    private let report: (SessionEvent) -> Void
    private var isSleeping = false
    private var inputs: [(descriptor: Int32, input: Input)] = []

    init(_ report: @escaping (SessionEvent) -> Void) {
        self.report = report
        // As GLib finds the bus. What answers there can lock the app, and nothing more.
        let system = Place.variable("DBUS_SYSTEM_BUS_ADDRESS").map { BusAddress($0) } ?? .system
        watch = SessionWatch(.init(system: system))
        inputs = watch.descriptors.map { watched in
            (watched.descriptor, Input(watched.descriptor) { [unowned self] in takeEvents() })
        }
        // What came while it subscribed waits in memory and not at the descriptor.
        takeEvents()
    }

    private func takeEvents() {
        for event in watch.takeEvents() {
            if event == .sleeps || event == .woke { isSleeping = event == .sleeps }
            report(event)
        }
        let open = watch.descriptors.map(\.descriptor)
        for (descriptor, input) in inputs where !open.contains(descriptor) { input.end() }
    }

    /// Lets the machine sleep: what had to be done before is done.
    func allowSleep() {
        // Once it woke up, the same lock delays the next sleep.
        if isSleeping { watch.allowSleep() }
    }
}

extension SessionEvent {
    /// The event of the lock machine.
    var ofLock: LockEvent {
        switch self {
        case .locked: .systemLocked
        case .unlocked: .systemUnlocked
        case .switchedAway: .userSwitchedAway
        case .switchedBack: .userSwitchedBack
        case .lidClosed: .lidClosed
        case .sleeps: .suspended
        case .woke: .resumed
        }
    }

    /// Whether the user leaves; otherwise the user comes back.
    var closes: Bool {
        switch self {
        case .locked, .switchedAway, .lidClosed, .sleeps: true
        case .unlocked, .switchedBack, .woke: false
        }
    }
}
