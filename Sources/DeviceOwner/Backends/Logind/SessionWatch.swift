internal import SystemCalls

/// Something of the machine or the session that a lock cares about.
package enum SessionEvent: Sendable, Hashable, CaseIterable {
    /// The session was locked, or its screen saver came up.
    case locked
    /// The session was unlocked. That opens nothing of ours.
    case unlocked
    /// The machine goes to sleep, and waits until ``SessionWatch/allowSleep()``.
    case sleeps
    /// The machine woke up.
    case woke
    /// The lid was closed.
    case lidClosed
    /// Another user's session came to the front.
    case switchedAway
    /// This user's session is in front again. That opens nothing of ours.
    case switchedBack
}

/// Listens to logind, UPower and the screen savers, for a thread that waits in `poll(2)`. What cannot be reached is
/// left out, and said by ``missing``; a lock then has its timers only.
///
/// What it hears can only lock. A forged signal does no more.
package final class SessionWatch {
    /// Which buses.
    package struct Places: Sendable, Hashable {
        package var system: BusAddress
        /// The user's own; nil for what the environment names.
        package var session: BusAddress?

        package init(system: BusAddress = .system, session: BusAddress? = nil) {
            self.system = system
            self.session = session
        }
    }

    private let places: Places
    private var system: SystemBus?
    private var session: SystemBus?
    private var inhibitor: Int32 = -1
    /// What is not listened to, in words.
    package private(set) var missing: [String] = []
    /// Whether something of that is there and gave no answer in time.
    package private(set) var isSilent = false

    private var logindAnswers = true

    private static let patience: UInt64 = 500
    private static let login = SystemBus.Target(
        service: "org.freedesktop.login1", path: "/org/freedesktop/login1", interface: "org.freedesktop.login1.Manager")
    private static let savers = ["org.freedesktop.ScreenSaver", "org.gnome.ScreenSaver"]

    /// Begins to listen. Takes a moment where a bus does not answer, never more than some seconds.
    package init(_ places: Places = Places()) {
        self.places = places
        listenToSystem()
        listenToSession()
    }

    deinit { allowSleep() }

    private func listenToSystem() {
        let patience = SessionWatch.patience
        do throws(BusFailure) {
            let bus = try SystemBus(places.system)
            let login = "type='signal',sender='org.freedesktop.login1'"
            for rule in [
                login + ",interface='org.freedesktop.login1.Manager',member='PrepareForSleep'",
                login + ",interface='org.freedesktop.login1.Session',member='Lock'",
                login + ",interface='org.freedesktop.login1.Session',member='Unlock'",
                login + ",interface='org.freedesktop.DBus.Properties',member='PropertiesChanged'",
                "type='signal',sender='org.freedesktop.UPower',path='/org/freedesktop/UPower'"
                    + ",interface='org.freedesktop.DBus.Properties',member='PropertiesChanged'",
            ] { try bus.subscribe(rule, patience: patience) }
            system = bus
        } catch { return miss("the system bus (lock, sleep and lid are not noticed)", error) }
        delaySleep()
    }

    private func listenToSession() {
        do throws(BusFailure) {
            let bus = if let address = places.session { try SystemBus(address) } else { try SystemBus(session: ()) }
            for name in SessionWatch.savers {
                try bus.subscribe(
                    "type='signal',interface='\(name)',member='ActiveChanged'", patience: SessionWatch.patience)
            }
            session = bus
        } catch { miss("the session bus (screen savers are not noticed)", error) }
    }

    private func miss(_ what: String, _ failure: BusFailure) {
        missing.append(what)
        if failure.isSilence { isSilent = true }
    }

    /// Asks logind to wait for us before the machine sleeps.
    private func delaySleep() {
        guard let system, inhibitor < 0 else { return }
        let nothing = "logind (sleep does not wait until the keys are gone)"
        do throws(BusFailure) {
            let reply = try system.call(
                SessionWatch.login, "Inhibit",
                [.text("sleep"), .text("Holdfast"), .text("drops its keys before the machine sleeps"), .text("delay")],
                patience: SessionWatch.patience)
            if let descriptor = reply.descriptor() { inhibitor = fcntl(descriptor, F_DUPFD_CLOEXEC, 3) }
            if inhibitor < 0 { missing.append(nothing) }
        } catch { miss(nothing, error) }
    }

    /// Whether sleep waits for us.
    package var delaysSleep: Bool { inhibitor >= 0 }

    /// The keys are gone: the machine may sleep.
    package func allowSleep() {
        guard inhibitor >= 0 else { return }
        close(inhibitor)
        inhibitor = -1
    }

    /// What to wait for in `poll(2)`.
    package var descriptors: [(descriptor: Int32, events: Int16)] {
        [system, session].compactMap { bus in bus.map { ($0.descriptor, $0.events) } }
    }

    /// What happened since the last look. A bus that went away is not listened to any more; the session is then treated
    /// as locked, because a lock would go unnoticed.
    package func takeEvents() -> [SessionEvent] {
        var events: [SessionEvent] = []
        do throws(BusFailure) {
            while let message = try system?.next() { handle(message, &events) }
        } catch {
            system = nil
            missing.append("the system bus went away")
            allowSleep()
            events += [.locked, .woke]
        }
        do throws(BusFailure) {
            while let message = try session?.next() {
                guard SessionWatch.savers.contains(message.interface) else { continue }
                // A signal without a value is read as the one that locks.
                events.append(message.flag() ?? true ? .locked : .unlocked)
            }
        } catch {
            session = nil
            missing.append("the session bus went away")
            events.append(.locked)
        }
        return events
    }

    private func handle(_ message: BusMessage, _ events: inout [SessionEvent]) {
        switch (message.interface, message.member) {
        case ("org.freedesktop.login1.Manager", "PrepareForSleep"):
            guard let sleeps = message.flag() else { return }
            events.append(sleeps ? .sleeps : .woke)
            if !sleeps { delaySleep() }
        case ("org.freedesktop.login1.Session", "Lock"):
            if isOurs(message.path) { events.append(.locked) }
        case ("org.freedesktop.login1.Session", "Unlock"):
            if isOurs(message.path) { events.append(.unlocked) }
        case ("org.freedesktop.DBus.Properties", "PropertiesChanged"): handleProperties(message, &events)
        default: break
        }
    }

    /// `PropertiesChanged`: an interface, then an array of name and value.
    private func handleProperties(_ message: BusMessage, _ events: inout [SessionEvent]) {
        guard let interface = message.text(), message.enter(UInt8(ascii: "a"), "{sv}") else { return }
        while message.enter(UInt8(ascii: "e"), "sv") {
            guard let name = message.text() else { return }
            if message.enter(UInt8(ascii: "v"), "b") {
                if let value = message.flag() {
                    switch (interface, name, value) {
                    case ("org.freedesktop.login1.Session", "LockedHint", true):
                        if isOurs(message.path) { events.append(.locked) }
                    case ("org.freedesktop.login1.Session", "Active", let isActive):
                        if isOurs(message.path) { events.append(isActive ? .switchedBack : .switchedAway) }
                    case ("org.freedesktop.login1.Manager", "LidClosed", true),
                        ("org.freedesktop.UPower", "LidIsClosed", true):
                        events.append(.lidClosed)
                    default: break
                    }
                }
                message.leave()
            } else if !message.skip() {
                return
            }
            message.leave()
        }
    }

    /// Whether a session is this user's. One that cannot be asked about counts as it: in doubt the lock shuts.
    private func isOurs(_ path: String) -> Bool {
        guard let system, logindAnswers else { return true }
        let session = SystemBus.Target(
            service: SessionWatch.login.service, path: path, interface: "org.freedesktop.login1.Session")
        let user: BusMessage
        do throws(BusFailure) {
            user = try system.property("User", of: session, patience: SessionWatch.patience)
        } catch {
            // Whoever waits for one message must not wait again for each that follows.
            logindAnswers = !error.isSilence
            return true
        }
        guard user.enter(UInt8(ascii: "v"), "(uo)"), user.enter(UInt8(ascii: "r"), "uo"), let number = user.number()
        else { return true }
        return number == getuid()
    }
}
